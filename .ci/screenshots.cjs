// Takes the pictures of the sandbox, and of a plan in a terminal, as a page and as a comment for docs/, and checks each page with axe. The exit
// status is 1 if axe finds a violation.
//
//   npm install --prefix /tmp/pictures puppeteer-core axe-core marked github-markdown-css
//   go build -o /tmp/pictures/planform .
//   CHROME=chromium NODE_PATH=/tmp/pictures/node_modules node .ci/screenshots.cjs /tmp/pictures/planform
const { execFileSync, spawn } = require('node:child_process');
const { cpSync, mkdtempSync, readFileSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, resolve } = require('node:path');
const { once } = require('node:events');
const { marked } = require('marked');
const puppeteer = require('puppeteer-core');
const axe = require.resolve('axe-core/axe.min.js');

const planform = resolve(process.argv[2]);
const docs = resolve(__dirname, '..', 'docs');
// A picture is a page below the address of the sandbox, or a file. A page without a name is only checked.
const pages = [
  { file: 'plan.html', name: 'plan', width: 1000, height: 1080 },
  { file: 'plan.html', width: 1000, dark: true },
  { file: 'plan.html', width: 375 },
  { file: 'plan.html', width: 375, dark: true, open: true },
  { file: 'comment.html', name: 'comment', width: 860, unchecked: true }, // GitHub's own look
  { file: 'plan-80.html', name: 'plan-80', width: 700, unchecked: true }, // terminals
  { file: 'plan-200.html', name: 'plan-200', width: 1700, unchecked: true },
  { link: 'Website', name: 'sandbox', width: 1100 },
  { path: '/acme/browse/WEB-2', name: 'sandbox-dark', width: 1100, dark: true },
  { path: '/acme/browse/WEB-1', name: 'sandbox-narrow', width: 375 },
  { path: '/', width: 1100 },
  { path: '/', width: 375, dark: true },
  { link: 'Website', width: 1100, dark: true },
  { link: 'Website', width: 375 },
  { path: '/acme/browse/WEB-2', width: 1100 },
  { link: 'Globex', width: 1100 },
  { link: 'Grow in the north', width: 1100, dark: true },
  { link: 'Welcome', width: 375 },
];

// review makes the plan of a changed manifest, as a page and as a comment.
function review(dir) {
  const manifest = join(dir, 'examples', 'workspace.yaml');
  const changes = [
    ['state: In Progress', 'state: Done'],
    ['One page, no **reload**.', 'One page, no **reload**, and no *account* needed.'],
    ['priority: high\n            labels: [frontend]', 'priority: urgent\n            labels: [frontend, backend]'],
    ['      - name: Redirect the old addresses\n        parent: shop # the key of an item, wherever it stands\n        priority: low\n',
      '      - {key: measure, name: Measure the drop-outs, assignees: [bob@example.com, eve@example.com], priority: medium, labels: [frontend]}\n' +
      '      - {key: faq, name: Write the questions and answers, assignees: [bob@example.com], labels: [frontend]}\n'],
    ['pages:\n', 'pages:\n  - {key: onboarding, name: Onboarding, description: The first week.}\n'],
  ];
  let text = readFileSync(manifest, 'utf8');
  for (const [before, after] of changes) {
    if (!text.includes(before)) throw new Error(`the example no longer has: ${before}`);
    text = text.replace(before, after);
  }
  writeFileSync(manifest, text);
  const plan = (format) => execFileSync(planform, ['plan', 'examples/workspace.yaml', '--sandbox', '--prune', '--output', format], { cwd: dir }).toString();
  writeFileSync(join(dir, 'plan.html'), plan('html'));
  const style = readFileSync(require.resolve('github-markdown-css/github-markdown-light.css'), 'utf8');
  writeFileSync(join(dir, 'comment.html'), `<!DOCTYPE html><meta charset="utf-8"><style>${style}
    body { margin: 16px; } .comment { border: 1px solid #d1d9e0; border-radius: 6px; font-family: sans-serif; font-size: 14px; }
    .comment > p { margin: 0; padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; } .markdown-body { padding: 16px; font-size: 14px; }
    </style><div class="comment"><p><b>github-actions</b> commented 2 minutes ago</p><div class="markdown-body">${marked.parse(plan('markdown').replaceAll('<details>', '<details open>'))}</div></div>`);
}

// terminal makes a page of the plan as a terminal of this width shows it.
function terminal(dir, columns) {
  const command = `stty cols ${columns} rows 999; ${planform} plan examples/workspace.yaml --sandbox --prune --color always`;
  const text = execFileSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], { cwd: dir }).toString();
  const shown = text.split('\n').map((line) => line.replace(/\r$/, '').split('\r').pop().replace(/\x1b\[K/g, '')).join('\n').trim();
  const styles = { 1: 'font-weight: bold', 2: 'opacity: .65', 31: 'color: #ff7b72', 32: 'color: #7ee787', 33: 'color: #e3b341', 34: 'color: #79c0ff', 35: 'color: #d2a8ff', 36: 'color: #76e3ea' };
  const html = shown.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/\x1b\[(\d*)m/g, (_, code) => (styles[code] ? `<span style="${styles[code]}">` : '</span>'));
  writeFileSync(join(dir, `plan-${columns}.html`), `<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0; background: #0d1117">
    <pre style="margin: 0; padding: 16px; color: #e6edf3; font: 14px/20px monospace">${html}</pre>`);
}

async function main() {
  const dir = mkdtempSync(join(tmpdir(), 'planform-pictures-'));
  cpSync(resolve(__dirname, '..', 'examples'), join(dir, 'examples'), { recursive: true });
  execFileSync(planform, ['apply', '-f', 'examples/workspace.yaml', '--sandbox', '--yes'], { cwd: dir, stdio: 'inherit' });
  review(dir);
  [80, 200].forEach((columns) => terminal(dir, columns));
  const sandbox = spawn(planform, ['sandbox'], { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] });
  const address = (await once(sandbox.stdout, 'data')).toString().trim();
  const browser = await puppeteer.launch({ executablePath: process.env.CHROME || 'chromium', headless: 'shell', args: ['--no-sandbox'] });
  let bad = 0;
  try {
    for (const { path, link, file, name, width, height, dark, open, unchecked } of pages) {
      const page = await browser.newPage();
      const errors = [];
      page.on('console', (message) => message.type() === 'error' && !message.location().url.endsWith('/favicon.ico') && errors.push(message.text()));
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
      await page.setViewport({ width, height: 700, deviceScaleFactor: 1 });
      await page.goto(file ? 'file://' + join(dir, file) : address + (path || '/'));
      if (open) await page.click('button[name=open]');
      if (link) {
        await Promise.all([page.waitForNavigation(), page.evaluate((text) => [...document.links].find((a) => a.textContent === text).click(), link)]);
      }
      const clip = height ? { clip: { x: 0, y: 0, width, height } } : { fullPage: true };
      if (name) await page.screenshot({ path: join(docs, name + '.png'), ...clip });
      if (unchecked) {
        await page.close();
        continue;
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) errors.push(`the page is ${wide} pixels wide`);
      await page.evaluate(readFileSync(axe, 'utf8'));
      const { violations } = await page.evaluate(() => axe.run());
      for (const v of violations) errors.push(`axe: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' ')}`);
      console.log(`${errors.length ? 'BAD ' : 'ok  '} ${file || path || link} at ${width} pixels${dark ? ', dark' : ''}`);
      errors.forEach((error) => console.log('     ' + error));
      bad += errors.length;
      await page.close();
    }
  } finally {
    await browser.close();
    sandbox.kill();
  }
  process.exit(bad ? 1 : 0);
}

main();
