// Takes the pictures of the sandbox's page for docs/, and checks each page with axe. The exit status is 1 if axe finds a violation.
//
//   npm install --prefix /tmp/pictures puppeteer-core axe-core
//   go build -o /tmp/pictures/planform .
//   CHROME=chromium NODE_PATH=/tmp/pictures/node_modules node .ci/screenshots.cjs /tmp/pictures/planform
const { execFileSync, spawn } = require('node:child_process');
const { cpSync, mkdtempSync, readFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, resolve } = require('node:path');
const { once } = require('node:events');
const puppeteer = require('puppeteer-core');
const axe = require.resolve('axe-core/axe.min.js');

const planform = resolve(process.argv[2]);
const docs = resolve(__dirname, '..', 'docs');
// A picture is a page below the address of the sandbox. A page without a name is only checked.
const pages = [
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

async function main() {
  const dir = mkdtempSync(join(tmpdir(), 'planform-pictures-'));
  cpSync(resolve(__dirname, '..', 'examples'), join(dir, 'examples'), { recursive: true });
  execFileSync(planform, ['apply', '-f', 'examples/workspace.yaml', '--sandbox', '--yes'], { cwd: dir, stdio: 'inherit' });
  const sandbox = spawn(planform, ['sandbox'], { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] });
  const address = (await once(sandbox.stdout, 'data')).toString().trim();
  const browser = await puppeteer.launch({ executablePath: process.env.CHROME || 'chromium', headless: 'shell', args: ['--no-sandbox'] });
  let bad = 0;
  try {
    for (const { path, link, name, width, dark } of pages) {
      const page = await browser.newPage();
      const errors = [];
      page.on('console', (message) => message.type() === 'error' && !message.location().url.endsWith('/favicon.ico') && errors.push(message.text()));
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
      await page.setViewport({ width, height: 700, deviceScaleFactor: 1 });
      await page.goto(address + (path || '/'));
      if (link) {
        await Promise.all([page.waitForNavigation(), page.evaluate((text) => [...document.links].find((a) => a.textContent === text).click(), link)]);
      }
      if (name) await page.screenshot({ path: join(docs, name + '.png'), fullPage: true });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) errors.push(`the page is ${wide} pixels wide`);
      await page.evaluate(readFileSync(axe, 'utf8'));
      const { violations } = await page.evaluate(() => axe.run());
      for (const v of violations) errors.push(`axe: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(' ')}`);
      console.log(`${errors.length ? 'BAD ' : 'ok  '} ${path || link} at ${width} pixels${dark ? ', dark' : ''}`);
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
