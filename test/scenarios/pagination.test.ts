import { expect } from 'vitest'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

function make(): ReturnType<typeof createServer> {
  const app = createServer({ name: 'pages', version: '1', pageSize: 3 })
  for (let at = 0; at < 7; at++) {
    app
      .tool(`t${at}`, {}, () => at)
      .resource(`r://${at}`, { name: `r${at}` }, () => 'x')
      .resource(`m${at}://{x}`, { name: `m${at}` }, () => 'x')
      .prompt(`p${at}`, {}, () => 'x')
  }
  return app
}
const app = make()

const LISTS = [
  ['tools/list', 'tools', 't'],
  ['resources/list', 'resources', 'r'],
  ['resources/templates/list', 'resourceTemplates', 'm'],
  ['prompts/list', 'prompts', 'p'],
] as const

/** The names on a page, and the cursor of the next. */
async function page(
  client: Client,
  method: string,
  member: string,
  cursor?: unknown,
): Promise<[string[], string | undefined]> {
  const result = await client.get(method, cursor === undefined ? undefined : { cursor })
  expect(Object.keys(result).filter((key) => key !== 'nextCursor')).toEqual([member])
  return [
    (result[member] as { name: string }[]).map(({ name }) => name),
    result['nextCursor'] as string | undefined,
  ]
}

scenario(
  'every list is served page by page, and the last page has no cursor [S0-4.1] [S2-3.2-1] [S2-3.2-4] [S2-4.2-1] [S2-5.2-1] [S2-3.7-1] [S2-9.4-15] [S3-5.1-1] [S4-14-11]',
  app,
  async (client) => {
    for (const [method, member, letter] of LISTS) {
      const [first, second] = await page(client, method, member)
      expect(first).toEqual([0, 1, 2].map((at) => `${letter}${at}`))
      const [next, third] = await page(client, method, member, second)
      expect(next).toEqual([3, 4, 5].map((at) => `${letter}${at}`))
      expect(await page(client, method, member, third)).toEqual([[`${letter}6`], undefined])
      expect(await page(client, method, member, second)).toEqual([next, third])
    }
  },
)

scenario(
  'a cursor survives changes of the list: nothing is shown twice and nothing is lost [S4-14-11]',
  make,
  async (client, _revision, stage) => {
    const [first, cursor] = await page(client, 'tools/list', 'tools')
    expect(first).toEqual(['t0', 't1', 't2'])
    stage.app.remove('tool', 't0')
    stage.app.remove('tool', 't2')
    stage.app.remove('tool', 't4')
    stage.app.tool('t9', {}, () => 9)
    const [second, last] = await page(client, 'tools/list', 'tools', cursor)
    expect(second).toEqual(['t3', 't5', 't6'])
    expect(await page(client, 'tools/list', 'tools', last)).toEqual([['t9'], undefined])
  },
)

scenario(
  'a cursor that is not of this list is refused [R183] [S3-9-7] [R012] [S2-3.2-4] [S2-9.4-15]',
  app,
  async (client, revision) => {
    const [, cursor] = await page(client, 'tools/list', 'tools')
    const bad: [string, unknown][] = [
      ['tools/list', 'nonsense'],
      ['tools/list', `${cursor}x`],
      ['tools/list', 5],
      ['tools/list', {}],
      ['prompts/list', cursor],
      ['tools/list', btoa('tools:0').replaceAll('=', '')],
      ['tools/list', btoa('tools:999999999999').replaceAll('=', '')],
    ]
    for (const [method, given] of bad) {
      const error = await refusal(client.request(method, { cursor: given }))
      expect([error.code, error.message]).toEqual([-32602, 'the cursor does not belong to this list'])
      expect((error.data as JsonObject)['refusal']).toMatchObject({ code: 1021 })
    }
    const long = await refusal(client.request('tools/list', { cursor: 'a'.repeat(5000) }))
    expect([long.code, long.message]).toMatchObject([-32602, expect.stringMatching(/^the cursor is longer/)])
    if (revision === '2026-07-28')
      expect((await refusal(client.request('tools/list', { cursor: '' }))).code).toBe(-32602)
    else expect((await page(client, 'tools/list', 'tools', ''))[0]).toEqual(['t0', 't1', 't2'])
  },
)

scenario('a cursor that is null counts as none [S3-5.1-1] [S3-5.2-1]', app, async (client) => {
  for (const [method, member] of LISTS) {
    const reply = await client.post(client.requestText(client.nextId(), method, { cursor: null }))
    const { result } = reply as { result: JsonObject }
    expect(result[member]).toHaveLength(3)
    expect(Object.values(result)).not.toContain(null)
  }
})

scenario(
  'lists come in the order of registration, the same for every connection [R157] [R158]',
  app,
  async (client, _revision, { join }) => {
    const other = await join({ clientInfo: { name: 'other', version: '9' }, capabilities: { sampling: {} } })
    for (const [method] of LISTS) expect(await other.request(method)).toEqual(await client.request(method))
  },
)
