import { hiddenOr } from '../base/hidden-text.ts'
import { escaped as hiddenEscaped } from '../errors/printable.ts'
import {
  groupsOf,
  incompleteText,
  isBroken,
  coverageText,
  scoreText,
  several,
  summaryOf,
  weightOf,
  type Group,
  type Report,
} from './result.ts'

/** A page with the result, for people. It loads nothing, and everything from the peer is escaped. */
export function htmlReport(report: Report): string {
  const { target, at, score, counts, outcomes, places, problem } = report
  const failed = groupsOf(outcomes.filter(isBroken))
  const ignored = groupsOf(outcomes.filter(({ isIgnored }) => isIgnored === true))
  const late = incompleteText(report)
  const others = (is: 'passed' | 'unchecked' | 'absent'): readonly Group[] =>
    groupsOf(outcomes.filter((one) => one.is === is))
  const spoken = places
    .map(({ transport, revisions, problem }) => `${transport}: ${problem ?? revisions.join(', ')}`)
    .join(' · ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escaped(target)}: ${problem === undefined ? scoreText(report) : 'not checked'}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(target)}</h1>
${score === undefined ? '' : `<p class="score ${counts.failures > 0 ? 'bad' : counts.warnings > 0 || late !== undefined ? 'fair' : 'good'}">${score}<small> of 100${coverageText(counts)}</small></p>`}
<p>${problem === undefined ? summaryOf(report) : `<b class="bad">${escaped(problem)}</b>`}</p>
${late === undefined ? '' : `<p><b class="fair">${escaped(late)}</b></p>`}
<p class="dim">${escaped(spoken)} · ${escaped(at)}</p>
${failed.length === 0 ? '' : `<h2>What to change</h2>${failed.map(failure).join('')}`}
${list('Ignored', ignored)}
${list('Not checked', others('unchecked'))}
${list('Passed', others('passed'))}
${list('Does not apply', others('absent'))}
</body>
</html>
`
}

function failure({ first, where }: Group): string {
  const rows = (first.entries ?? []).map(
    ({ from, text, http }) =>
      `<li class="${from}"><pre>${escaped(http === undefined ? text : `${text}\n\n${headers(http.headers)}`)}</pre></li>`,
  )
  return `<section class="${weightOf(first)}">
<h3>${escaped(first.id)} ${escaped(first.rule)}</h3>
<p>${escaped(first.found ?? '')}</p>
<p><b>Change:</b> ${escaped(first.fix)}</p>
<p class="dim">${escaped(where.join(', '))} · checked like this: ${escaped(first.how)}</p>
${rows.length === 0 ? '' : `<details><summary>The exchange</summary><ol>${rows.join('')}</ol></details>`}
</section>`
}

function headers(all: Readonly<{ [name: string]: string }>): string {
  return Object.entries(all)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function list(title: string, groups: readonly Group[]): string {
  if (groups.length === 0) return ''
  const rows = groups.map(
    ({ first, where }) =>
      `<tr><td>${escaped(first.id)}</td><td>${escaped(first.rule)}${first.found === undefined ? '' : `<br><span class="dim">${escaped(first.found)}</span>`}</td><td class="dim">${escaped(where.join(', '))}</td></tr>`,
  )
  return `<details><summary>${title}: ${several(groups.length, 'rule')}</summary><table>${rows.join('')}</table></details>`
}

/** Characters that nobody sees, or that change what people see. */
const UNSAFE = hiddenOr(String.raw`(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]`)

function escaped(text: string): string {
  return hiddenEscaped(text, UNSAFE)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

const STYLE = `
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.3rem;overflow-wrap:anywhere}h3{margin:0 0 .5rem;font-size:1rem}
.score{font-size:3rem;margin:0}.score small{font-size:1rem}.good{color:#1a7f37}.fair{color:#9a6700}.bad{color:#cf222e}
.dim{opacity:.7;font-size:.9rem}
section{border:1px solid #8886;border-left:4px solid #cf222e;border-radius:4px;padding:1rem;margin:1rem 0}
section.warning{border-left-color:#9a6700}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.5rem;margin:.25rem 0;max-height:20rem;overflow:auto}
li.peer::marker{content:"← "}li.validator::marker{content:"→ "}
summary{cursor:pointer;margin:.5rem 0}table{border-collapse:collapse;width:100%}td{border-top:1px solid #8884;padding:.4rem;vertical-align:top}
`
