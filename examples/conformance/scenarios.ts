import assert from 'node:assert/strict'
import type { Answers, Client } from 'pierhead/client'

/** What a client does in one scenario of the official conformance suite. */
export interface Scenario {
  readonly answers?: Answers
  run(client: Client, context: Readonly<Record<string, unknown>>): Promise<void>
}

/** A user who agrees to everything and fills in nothing. */
const agree: Answers['elicit'] = () => ({ action: 'accept', content: {} })

export const SCENARIOS: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  ['initialize', { run: listTools }],
  ['tools_call', { run: addNumbers }],
  ['elicitation-sep1034-client-defaults', { answers: { elicit: agree }, run: fillInDefaults }],
  ['sse-retry', { run: reconnectStream }],
  ['request-metadata', { answers: { elicit: agree, sample: answerPlainly, roots: [] }, run: listTools }],
  ['sep-2322-client-request-state', { answers: { elicit: agree }, run: keepRoundsApart }],
  ['http-standard-headers', { run: useFirstOfEach }],
  ['http-custom-headers', { run: callAsRequested }],
  ['http-invalid-tool-headers', { run: callListedTools }],
  ['json-schema-ref-no-deref', { run: listTools }],
  ['json-schema-2020-12-preservation', { run: echoSchema }],
])

function answerPlainly(): Record<string, unknown> {
  return { role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'none' }
}

async function listTools(client: Client): Promise<void> {
  for await (const _ of client.tools()) continue
}

async function addNumbers(client: Client): Promise<void> {
  await listTools(client)
  assert.equal(await client.call('add_numbers', { a: 5, b: 3 }), 'The sum of 5 and 3 is 8')
}

async function fillInDefaults(client: Client): Promise<void> {
  await listTools(client)
  await client.call('test_client_elicitation_defaults')
}

async function reconnectStream(client: Client): Promise<void> {
  await listTools(client)
  assert.equal(await client.call('test_reconnection'), 'Reconnection test completed successfully')
}

/** Three calls in parallel, two of them with a question; then one whose answer omits its kind. */
async function keepRoundsApart(client: Client): Promise<void> {
  await listTools(client)
  const names = ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_unrelated']
  const texts = await Promise.all(names.map((name) => client.call(name)))
  assert.deepEqual(texts, ['echo-state-ok', 'no-state-ok', 'unrelated-ok'])
  assert.equal(await client.call('test_mrtr_no_result_type'), 'no-result-type-test-ok')
}

async function useFirstOfEach(client: Client): Promise<void> {
  for await (const { name } of client.tools()) {
    await client.call(name)
    break
  }
  for await (const { uri } of client.resources()) {
    await client.read(uri)
    break
  }
  for await (const { name } of client.prompts()) {
    await client.prompt(name)
    break
  }
}

async function callAsRequested(client: Client, context: Readonly<Record<string, unknown>>): Promise<void> {
  const calls = context['toolCalls'] as readonly { name: string; arguments: Record<string, unknown> }[]
  await listTools(client)
  for (const { name, arguments: input } of calls) await client.call(name, input)
}

async function callListedTools(client: Client): Promise<void> {
  const names: string[] = []
  for await (const { name } of client.tools()) names.push(name)
  for (const name of names) await client.call(name, { region: 'us-east1' })
  assert.deepEqual(names, ['valid_tool'])
}

async function echoSchema(client: Client): Promise<void> {
  for await (const { name, inputSchema } of client.tools()) {
    if (name === 'json_schema_2020_12_tool') await client.call('json_schema_echo', { schema: inputSchema })
  }
}
