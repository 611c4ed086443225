// A server that asks, as a program that can be given little memory. It gets messages full of answers and tells how it
// replied.
import { createServer } from '../../src/index.ts'
import { META } from '../../src/protocol/meta.ts'

const LARGE = 12 * 1024 * 1024
const form = { type: 'object', properties: { name: { type: 'string' } } } as const
const app = createServer({ name: 'rounds', version: '1', log: () => undefined })
  .tool('ask', {}, async (_, { elicit }) => {
    await elicit('Your name?', form, { key: 'first' })
    await elicit('Your ship?', form, { key: 'second' })
    return 'done'
  })
  .tool('keep', {}, async (_, { elicit, once }) => {
    await once('kept', () => 'x'.repeat(LARGE))
    await elicit('Your name?', form, { key: 'first' })
    return 'done'
  })
  .prompt('ask', {}, async (_, { elicit }) => (await elicit('Your name?', form, { key: 'first' })).action)

interface Reply {
  readonly result?: { readonly resultType?: string; readonly requestState?: string }
  readonly error?: { readonly code: number; readonly message: string }
}

async function send(name: string, more: object = {}, method = 'tools/call'): Promise<Reply> {
  const _meta = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: { elicitation: {} } }
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name, ...more, _meta } })
  return new Promise((resolve) => {
    const end = app.connect({ receive: (reply) => resolve(JSON.parse(reply) as Reply) })
    end.send(text)
  })
}

const told: object[] = []
async function tell(title: string, sent: () => Promise<Reply>): Promise<void> {
  const { result, error } = await sent()
  told.push({
    title,
    resultType: result?.resultType,
    state: result?.requestState?.length,
    code: error?.code,
    message: error?.message,
  })
}

const answer = (size: number): object => ({ action: 'accept', content: { name: 'x'.repeat(size) } })
const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, {}]))
await tell('small', () => send('ask', { inputResponses: { zzz: 'A' } }))
const { result } = await send('ask')
const requestState = result?.requestState
await tell('a text', () => send('ask', { inputResponses: { zzz: 'A'.repeat(LARGE) } }))
await tell('a text for a prompt', () =>
  send('ask', { inputResponses: { zzz: 'A'.repeat(LARGE) } }, 'prompts/get'),
)
await tell('many', () => send('ask', { inputResponses: many }))
await tell('a text beside a state', () =>
  send('ask', { requestState, inputResponses: { zzz: 'A'.repeat(LARGE) } }),
)
await tell('an early answer', () => send('ask', { inputResponses: { first: answer(LARGE) } }))
await tell('an answer', () => send('ask', { requestState, inputResponses: { first: answer(LARGE) } }))
await tell('an answer in other letters', () =>
  send('ask', {
    requestState,
    inputResponses: { first: { action: 'accept', content: { name: 'ł'.repeat(150_000) } } },
  }),
)
await tell('a value', () => send('keep'))
await tell('the last answer', () =>
  send('ask', { inputResponses: { first: answer(9), second: answer(LARGE) } }),
)
process.stdout.write(JSON.stringify(told))
