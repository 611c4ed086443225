import { afterEach, describe, expect, test } from 'vitest'
import { createOrders } from '../../examples/orders/app.ts'
import { holds } from '../../examples/orders/store.ts'
import { REVISIONS } from '../../src/protocol/revisions.ts'
import type { Client } from '../harness/client.ts'
import { refusal } from '../harness/wire-error.ts'
import { callerOf } from './caller.ts'

const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

const audited: string[] = []
const app = createOrders((line) => audited.push(line))

async function caller(
  ...args: Parameters<typeof callerOf> extends [unknown, ...infer Rest] ? Rest : never
): Promise<Client> {
  const client = await callerOf(app, ...args)
  clients.push(client)
  return client
}

describe.each(REVISIONS)('orders at %s', (revision) => {
  test('what a generator yields is progress and content', async () => {
    const client = await caller(revision, { sub: 'ada' })
    const result = await client.call('search', { q: 'late' }, { meta: { progressToken: 't' } })
    expect(result).toMatchObject({ content: [{ text: 'Late rope' }, { text: 'Late paint' }], isError: false })
    expect(client.heard('notifications/progress')).toHaveLength(2)
  })

  test('a tool that a caller may not see does not exist for that caller', async () => {
    const [guest, ada] = [await caller(revision), await caller(revision, { sub: 'ada' })]
    const names = async (client: Client): Promise<readonly unknown[]> =>
      ((await client.get('tools/list'))['tools'] as { name: string }[]).map(({ name }) => name)
    expect(await names(guest)).toEqual(['find', 'plan', 'refund'])
    expect(await names(ada)).toEqual(['search', 'find', 'plan', 'refund'])
    expect(await refusal(guest.call('search', { q: 'late' }))).toMatchObject({ code: -32602 })
  })

  test('what is provided is known to the tools of a flat map and to middleware', async () => {
    const ada = await caller(revision, { sub: 'ada' })
    audited.length = 0
    expect(await ada.call('plan')).toMatchObject({ content: [{ text: 'paid' }] })
    expect(await ada.call('find', { id: '404' })).toMatchObject({ isError: true })
    expect(audited).toEqual(['ada tools/call done', 'ada tools/call failed'])
  })

  test('the variables of a template reach its handler, and returning undefined means that the resource does not exist', async () => {
    const client = await caller(revision)
    expect(await client.get('resources/read', { uri: 'orders://7/lines/notes/late' })).toEqual({
      contents: [
        {
          uri: 'orders://7/lines/notes/late',
          mimeType: 'application/json',
          text: '{"id":"7","line":"promised for Friday"}',
        },
      ],
    })
    const code = revision === '2026-07-28' ? -32602 : -32002
    expect(await refusal(client.get('resources/read', { uri: 'orders://9/lines/1' }))).toMatchObject({ code })
  })

  test('a prompt is filled in and its arguments are completed', async () => {
    const client = await caller(revision)
    expect(await client.get('prompts/get', { name: 'triage', arguments: { id: '7' } })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Triage order 7' } }],
    })
    const ref = { type: 'ref/prompt', name: 'triage' }
    const completed = await client.get('completion/complete', { ref, argument: { name: 'id', value: '7' } })
    expect(completed).toMatchObject({ completion: { values: ['7', '71'] } })
  })

  test('the variables of a template are completed, by what is filled in already', async () => {
    const client = await caller(revision)
    const values = async (argument: object, filled?: object): Promise<unknown> => {
      const ref = { type: 'ref/resource', uri: 'orders://{id}/lines/{+path}' }
      const context = filled === undefined ? {} : { context: { arguments: filled } }
      const { completion } = await client.get('completion/complete', { ref, argument, ...context })
      return (completion as { values: unknown }).values
    }
    expect(await values({ name: 'id', value: '7' })).toEqual(['7', '71'])
    expect(await values({ name: 'path', value: '' })).toEqual([])
    expect(await values({ name: 'path', value: 'n' }, { id: '7' })).toEqual(['notes/late'])
  })
})

describe.each(REVISIONS.filter((revision) => revision >= '2025-06-18'))('refund at %s', (revision) => {
  const capabilities = { elicitation: {}, sampling: {}, roots: {} }
  const answers = {
    'elicitation/create': () => ({ action: 'accept', content: { amount: 5 } }),
    'sampling/createMessage': () => ({
      role: 'assistant',
      model: 'small',
      content: { type: 'text', text: 'done' },
    }),
    'roots/list': () => ({ roots: [{ uri: 'file:///orders' }] }),
  }

  test('asks the user, the model and the client in turn, and reserves once [S2-6.2-6]', async () => {
    holds.clear()
    const client = await caller(revision, { capabilities, answers })
    expect(await client.call('refund', { id: '7' })).toMatchObject({
      content: [{ text: 'Refunded 5 on hold-1, summarised by small, filed in file:///orders' }],
    })
    expect(client.questions.map(({ method }) => method)).toEqual([
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
    ])
    expect(holds.size).toBe(1)
  })

  test('ends when the user declines', async () => {
    holds.clear()
    const declined = { ...answers, 'elicitation/create': () => ({ action: 'decline' }) }
    const client = await caller(revision, { capabilities, answers: declined })
    expect(await client.call('refund', { id: '7' })).toMatchObject({
      content: [{ text: 'Nothing was refunded' }],
    })
    expect(holds.size).toBe(0)
  })
})
