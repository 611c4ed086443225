import { expect } from 'vitest'
import { createServer, type Context } from '../../src/index.ts'
import type { Client } from '../harness/client.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const visible = ({ client }: Context): boolean => client.info?.name === 'admin'
const args = { type: 'object', properties: { a: { type: 'string' } } } as const
const app = createServer({ name: 'hides', version: '1', pageSize: 2 })
  .tool('open', {}, () => 'open')
  .tool('secret', { visible }, () => 'secret')
  .tool('last', {}, () => 'last')
  .resource('open://x', {}, () => 'x')
  .resource('secret://x', { visible }, () => 'x')
  .resource('secret://{y}/z', { visible }, () => 'x')
  .prompt('open', {}, () => 'x')
  .prompt('secret', { visible, args }, () => 'x')
  .complete('secret', 'a', () => ['one'])

const admin = { clientInfo: { name: 'admin', version: '1' } }

async function names(client: Client, method: string, member: string): Promise<unknown[]> {
  const found: unknown[] = []
  for (let cursor: unknown; ;) {
    const page = await client.get(method, cursor === undefined ? {} : { cursor })
    found.push(...(page[member] as { name: string }[]).map(({ name }) => name))
    cursor = page['nextCursor']
    if (cursor === undefined) return found
  }
}

scenario('what a caller may not see is not in any list [R158]', app, async (client, _revision, { join }) => {
  const seer = await join(admin)
  expect(await names(client, 'tools/list', 'tools')).toEqual(['open', 'last'])
  expect(await names(seer, 'tools/list', 'tools')).toEqual(['open', 'secret', 'last'])
  expect(await names(client, 'resources/list', 'resources')).toHaveLength(1)
  expect(await names(seer, 'resources/list', 'resources')).toHaveLength(2)
  expect(await names(client, 'resources/templates/list', 'resourceTemplates')).toEqual([])
  expect(await names(seer, 'resources/templates/list', 'resourceTemplates')).toHaveLength(1)
  expect(await names(client, 'prompts/list', 'prompts')).toEqual(['open'])
  expect(await names(seer, 'prompts/list', 'prompts')).toEqual(['open', 'secret'])
})

scenario(
  'and is answered exactly as what does not exist [R144] [R172] [R173] [R179]',
  app,
  async (client, _revision, { join }) => {
    const seer = await join(admin)
    const requests = [
      ['tools/call', { name: 'secret' }, { name: 'absent' }],
      ['prompts/get', { name: 'secret' }, { name: 'absent' }],
      ['resources/read', { uri: 'secret://x' }, { uri: 'absent://x' }],
      ['resources/read', { uri: 'secret://a/z' }, { uri: 'absent://a/z' }],
      [
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'secret' }, argument: { name: 'a', value: '' } },
        { ref: { type: 'ref/prompt', name: 'absent' }, argument: { name: 'a', value: '' } },
      ],
    ] as const
    for (const [method, hidden, absent] of requests) {
      const [first, second] = [
        await refusal(client.request(method, hidden)),
        await refusal(client.request(method, absent)),
      ]
      const plain = (words: unknown): string => JSON.stringify(words).replaceAll('secret', 'absent')
      expect([first.code, plain(first.message), plain(first.data)]).toEqual([
        second.code,
        plain(second.message),
        plain(second.data),
      ])
      await seer.request(method, hidden)
    }
  },
)

scenario('a near name does not give it away [R144]', app, async (client, _revision, { join }) => {
  expect((await refusal(client.call('secre'))).message).toBe('tool "secre" does not exist')
  const seer = await join(admin)
  expect((await refusal(seer.call('secre'))).message).toBe(
    'tool "secre" does not exist; did you mean "secret"?',
  )
})
