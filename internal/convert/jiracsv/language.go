package jiracsv

import (
	"regexp"
	"strings"
)

// language is a language of headers other than English. Columns that it does not translate are read as fields.
type language struct {
	name  string
	words string // English=word|word; ...
}

// languages have what was seen in exports, and the columns that go with these.
func languages() []language {
	return []language{
		{"Spanish", "Summary=resumen; Issue key=clave de incidencia|clave de la incidencia; Issue id=id de la incidencia|id de incidencia; Issue Type=tipo de incidencia; Status=estado; Status Category=categoría de estado; " +
			"Priority=prioridad; Resolution=resolución; Project key=clave del proyecto; Project name=nombre del proyecto; Project type=tipo de proyecto; Project description=descripción del proyecto; " +
			"Assignee=persona asignada; Reporter=informador; Creator=creador; Watchers=observadores; Votes=votos; Created=creada; Updated=actualizada; Resolved=resuelta; Due date=fecha de vencimiento; Last Viewed=última visualización; " +
			"Labels=etiquetas; Components=componentes; Description=descripción; Environment=entorno; Attachment=adjunto; Comment=comentario; Parent=principal; Parent key=clave principal; Parent id=id principal; " + //nolint:misspell // Spanish
			"Custom field=campo personalizado; Outward issue link=enlace de incidencia saliente; Inward issue link=enlace de incidencia entrante"},
		{"German", "Summary=zusammenfassung; Issue key=vorgangsschlüssel; Key=schlüssel; Issue id=vorgangs-id; Issue Type=vorgangstyp; Status Category=statuskategorie; Priority=priorität; Resolution=lösung; " +
			"Project key=projektschlüssel; Project name=projektname; Project type=projekttyp; Project lead=projektleiter; Project lead id=id des projektleiters; Project description=projektbeschreibung; " +
			"Assignee=zugewiesene person|bearbeiter; Reporter=autor; Creator=ersteller; Watchers=beobachter; Votes=stimmen; Created=erstellt; Updated=aktualisiert; Resolved=erledigt; Due date=fälligkeitsdatum; Last Viewed=zuletzt angezeigt; " + //nolint:misspell // German
			"Labels=stichwörter; Components=komponenten; Fix versions=lösungsversionen; Affects versions=betroffene versionen; Description=beschreibung; Environment=umgebung; Attachment=anhang; Comment=kommentar; Log Work=arbeit protokollieren; " +
			"Original estimate=ursprüngliche schätzung; Remaining Estimate=restschätzung; Time Spent=benötigte zeit; Work Ratio=verhältnis tatsächlicher zu geschätzter arbeit; Security Level=sicherheitsstufe; " +
			"Σ Original Estimate=σ ursprüngliche schätzung; Σ Remaining Estimate=σ restschätzung; Σ Time Spent=σ benötigte zeit; Parent=übergeordnet; Custom field=benutzerdefinierte felder"},
		{"French", "Summary=résumé; Issue key=clé de ticket|clé de demande; Issue id=id de ticket; Issue Type=type de ticket; Status=état; Priority=priorité; Resolution=résolution; Project key=clé de projet; " +
			"Assignee=personne assignée; Reporter=rapporteur; Creator=créateur; Labels=étiquettes; Components=composants; Attachment=pièce jointe; Comment=commentaire; Parent key=clé parent; " +
			"Custom field=champs personnalisés|champ personnalisé; Outward issue link=lien de ticket sortant; Inward issue link=lien de ticket entrant"},
		{"Portuguese", "Summary=resumo; Issue key=chave da item|chave do item|chave do ticket; Issue id=id da item|id do item; Issue Type=tipo de item; Status Category=categoria do status; Status Category Changed=categoria do status alterada; " +
			"Priority=prioridade; Resolution=resolução; Project name=nome do projeto; Assignee=responsável; Reporter=relator; Creator=criador; Created=criado; Updated=atualizado(a); Resolved=resolvido; Due date=data limite; " +
			"Labels=categorias; Components=componentes; Fix versions=versões corrigidas; Description=descrição; Attachment=anexo; Comment=comentário; Original estimate=estimativa original; Time Spent=tempo gasto; " + //nolint:misspell // Portuguese
			"Parent=pai; Parent key=chave pai; Custom field=campo personalizado; Outward issue link=link externo de item; Inward issue link=link de item interno"},
		{"Russian", "Summary=тема; Issue key=ключ проблемы; Issue id=идентификатор проблемы; Issue Type=тип задачи; Status=статус; Priority=приоритет; Project name=название проекта; Assignee=исполнитель; Reporter=автор; Creator=создатель; " +
			"Created=создано; Updated=обновлено; Resolved=дата решения; Labels=метки; Components=компоненты; Fix versions=исправить в версиях; Description=описание; Attachment=вложение; Comment=комментарий; Sprint=спринт; " +
			"Original estimate=первоначальная оценка; Time Spent=затраченное время; Custom field=пользовательское поле; Outward issue link=исходящая связь задачи; Inward issue link=входящая связь задачи"},
		{"Polish", "Summary=podsumowanie; Issue key=klucz zgłoszenia; Issue id=id. zgłoszenia; Issue Type=typ zgłoszenia; Priority=priorytet; Created=utworzono; Updated=zaktualizowano; Description=opis; Parent=element nadrzędny; Custom field=pole niestandardowe|pole własne"},
		{"Dutch", "Summary=samenvatting; Issue key=issuecode; Priority=prioriteit; Reporter=melder; Created=aangemaakt; Updated=bijgewerkt; Custom field=aangepast veld"},
		{"Chinese", "Summary=概要; Issue key=问题关键字; Issue id=问题id; Issue Type=问题类型; Status=状态; Priority=优先级; Resolution=解决结果; Project name=项目名称; Assignee=经办人; Reporter=报告人; Creator=创建者; " +
			"Created=创建日期; Updated=已更新; Resolved=已解决; Labels=标签; Components=模块; Description=描述; Original estimate=初始预估; Custom field=自定义字段"},
		{"Japanese", "Summary=要約; Issue key=課題キー; Issue id=課題 id|課題id; Issue Type=課題タイプ; Status=ステータス; Priority=優先度; Assignee=担当者; Reporter=報告者; Created=作成日; Updated=更新日; Labels=ラベル; Components=コンポーネント; " +
			"Description=説明; Comment=コメント; Custom field=カスタム フィールド|カスタムフィールド"},
	}
}

// english are the words of a language with what they are in English.
func (l language) english() map[string]string {
	all := map[string]string{}
	for entry := range strings.SplitSeq(l.words, "; ") {
		name, words, _ := strings.Cut(entry, "=")
		for word := range strings.SplitSeq(words, "|") {
			all[word] = name
		}
	}
	return all
}

var idColumn = regexp.MustCompile(`(?i)\bid\b`)

// english is a header in English, and the language that it was in if that is another one. The language is known by its words for
// Issue key and Summary; some columns stay English in every language.
func english(header []string) (translated []string, name string) {
	for _, l := range languages() {
		words := l.english()
		translated = make([]string, len(header))
		key, summary := false, false
		for i, cell := range header {
			word := words[strings.ToLower(cell)]
			key, summary = key || word == "Issue key" || word == "Key", summary || word == "Summary"
			before, inside, bracket := strings.Cut(cell, "(")
			kind := words[strings.ToLower(strings.TrimSpace(before))]
			switch {
			case word != "":
				translated[i] = word
			case bracket && is(kind, "Custom field", "Outward issue link", "Inward issue link"):
				translated[i] = kind + " (" + inside
			case i > 0 && is(translated[i-1], "Assignee", "Reporter", "Creator", "Watchers") && idColumn.MatchString(cell):
				translated[i] = translated[i-1] + " Id" // it stands beside the name
			default:
				translated[i] = cell
			}
		}
		if key && summary {
			return translated, l.name
		}
	}
	return header, ""
}
