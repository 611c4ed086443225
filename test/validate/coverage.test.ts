import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLIENT_RULES } from '../../src/validate/client-rules.ts'
import { SERVER_RULES } from '../../src/validate/server-rules.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The ids of all rules of the protocol. */
const IDS = read('requirements/protocol.jsonl')
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { readonly id: string }).id)

/** Rules for clients alone. */
const CLIENT_ONLY = new Set(
  `R014 R018 R019 R030 R034 R035 R036 R041 R042 R043 R047 R062 R063 R065 R066 R067 R073 R078 R083 R086 R087 R088 R095 R100
  R111 R112 R113 R117 R118 R119 R121 R128 R132 R150 R151 R155 R174 R182 R200 R201 R202 R203 R204 R210 R211 R212 R213 R215
  R217 R223 R224 R225 R232 R233 R235 R259 R271 R275 R276 R277 R278 R280 R281 R282 R283 R284 R285 R286 R287 R288 R290`.split(
    /\s+/,
  ),
)

/** Rules for both sides, or for whoever receives a request. All others are for servers alone. */
const BOTH = new Set(
  `R001 R002 R003 R004 R005 R006 R007 R008 R013 R016 R022 R038 R039 R040 R054 R060 R068 R101 R115 R116 R153 R154 R190 R191
  R192 R193 R194 R214 R240 R241 R242 R243 R244 R245 R247 R289`.split(/\s+/),
)

/** The ids in the table after a line of the note. */
function tableAfter(line: string): readonly string[] {
  const [, rest = ''] = read('docs/notes/029-validator.md').split(`\n${line}\n`)
  const [table = ''] = rest.split(/\n\n(?!\|)/)
  return [...table.matchAll(/^\| (R\d{3}) +\|/gm)].map(([, id]) => id ?? '')
}

test.each([
  {
    side: 'servers',
    rules: new Set(SERVER_RULES.map(({ id }) => id)),
    unseen: tableAfter('## Rules that cannot be seen'),
    ids: IDS.filter((id) => !CLIENT_ONLY.has(id)),
  },
  {
    side: 'clients',
    rules: new Set(CLIENT_RULES.map(({ id }) => id)),
    unseen: tableAfter('Rules for clients that cannot be seen:'),
    ids: IDS.filter((id) => CLIENT_ONLY.has(id) || BOTH.has(id)),
  },
])('every rule for $side is checked, or the note says why it cannot be', ({ rules, unseen, ids }) => {
  expect(ids.length).toBeGreaterThan(90)
  expect(ids.filter((id) => !rules.has(id) && !unseen.includes(id))).toEqual([])
  expect(unseen.filter((id) => rules.has(id))).toEqual([])
})

test.each([
  ['servers', SERVER_RULES],
  ['clients', CLIENT_RULES],
] as const)('no two rules for %s have one id', (_side, rules) => {
  const ids = rules.map(({ id }) => id)
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})
