import { expect } from 'vitest'
import { z } from 'zod'
import { createServer } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/jsonrpc.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const CITIES = ['Berlin', 'Bern', 'Bonn']
const app = createServer({ name: 'completes', version: '1', log: () => undefined })
  .prompt(
    'trip',
    { args: z.object({ from: z.string(), to: z.string(), note: z.string(), by: z.string().optional() }) },
    () => 'x',
  )
  .resource('city://{country}/{city}', {}, () => 'x')
  .complete('trip', 'from', (value) => CITIES.filter((city) => city.startsWith(value)))
  .complete('trip', 'to', (_value, known) =>
    known['from'] === undefined ? ['anywhere'] : [`not ${known['from']}`],
  )
  .complete('city://{country}/{city}', 'city', () => Array.from({ length: 150 }, (_, at) => `c${at}`))
  .complete('city://{country}/{city}', 'country', () => ({ values: ['de'], total: 12 }))
  .complete('trip', 'note', () => [7, true, { value: 8 }] as never)

const prompt = { type: 'ref/prompt', name: 'trip' }
const template = { type: 'ref/resource', uri: 'city://{country}/{city}' }

scenario(
  'the completer sees the partial value and ranks what fits [S2-7.1-2] [S2-7.2-2] [S2-9.4-7] [S2-7.1-1] [S2-7.2-1]',
  app,
  async (client) => {
    const complete = (value: string): Promise<JsonObject> =>
      client.get('completion/complete', { ref: prompt, argument: { name: 'from', value } })
    expect(await complete('Be')).toEqual({
      completion: { values: ['Berlin', 'Bern'], total: 2, hasMore: false },
    })
    expect(await complete('')).toEqual({ completion: { values: CITIES, total: 3, hasMore: false } })
    expect(await complete('x')).toEqual({ completion: { values: [], total: 0, hasMore: false } })
  },
)

scenario(
  'at most a hundred values are sent, and how many there are [R181] [S4-14-8] [S2-7.1-1] [S2-7.2-1] [S2-9.4-7] [S2-7.1-2]',
  app,
  async (client) => {
    const all = await client.get('completion/complete', {
      ref: template,
      argument: { name: 'city', value: '' },
    })
    expect(all).toEqual({
      completion: { values: Array.from({ length: 100 }, (_, at) => `c${at}`), total: 150, hasMore: true },
    })
    const some = await client.get('completion/complete', {
      ref: template,
      argument: { name: 'country', value: '' },
    })
    expect(some).toEqual({ completion: { values: ['de'], total: 12, hasMore: true } })
  },
)

scenario(
  'arguments that are resolved already reach the completer [S4-1-11] [S4-14-9] [S2-7.1-2]',
  app,
  async (client) => {
    const argument = { name: 'to', value: '' }
    const context = { arguments: { from: 'Bonn' } }
    const known = await client.get('completion/complete', { ref: prompt, argument, context })
    expect(known).toEqual({ completion: { values: ['not Bonn'], total: 1, hasMore: false } })
    const unknown = await client.get('completion/complete', { ref: prompt, argument })
    expect(unknown).toEqual({ completion: { values: ['anywhere'], total: 1, hasMore: false } })
  },
  { since: '2025-06-18' },
)

scenario('values that are not strings are sent as strings [R181]', app, async (client) => {
  const argument = { name: 'note', value: '' }
  expect(await client.get('completion/complete', { ref: prompt, argument })).toEqual({
    completion: { values: ['7', 'true', '8'], total: 3, hasMore: false },
  })
})

scenario('an argument without a completer has no values [S2-7.1-2]', app, async (client) => {
  const argument = { name: 'by', value: 'a' }
  expect(await client.get('completion/complete', { ref: prompt, argument })).toEqual({
    completion: { values: [], total: 0, hasMore: false },
  })
})

scenario('what cannot be completed is refused and says why [R012] [S3-9-7]', app, async (client) => {
  const argument = { name: 'from', value: '' }
  const wrong: [JsonObject, string][] = [
    [
      { ref: prompt, argument: { name: 'none', value: '' } },
      'nothing to complete: "trip" has no argument "none"; its arguments are from, to, note, by',
    ],
    [{ ref: { type: 'ref/prompt', name: 'none' }, argument }, 'prompt "none" does not exist'],
    [
      { ref: { type: 'ref/resource', uri: 'no://{x}' }, argument },
      'nothing to complete: there is no resource template "no://{x}"',
    ],
    [
      { ref: { type: 'ref/tool', name: 'x' }, argument },
      'nothing to complete: ref.type must be "ref/prompt" or "ref/resource"',
    ],
    [{ argument }, 'nothing to complete: ref.type must be "ref/prompt" or "ref/resource"'],
    [
      { ref: prompt, argument: { name: 'from' } },
      'invalid params for completion/complete: argument needs a name and a value, both strings',
    ],
    [
      { ref: prompt },
      'invalid params for completion/complete: argument needs a name and a value, both strings',
    ],
  ]
  for (const [params, message] of wrong) {
    const error = await refusal(client.request('completion/complete', params))
    expect([error.code, error.message]).toEqual([-32602, message])
  }
})

scenario('a context of far more arguments than are declared is rejected', app, async (client) => {
  const known = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`k${at}`, 'x']))
  const params = { ref: prompt, argument: { name: 'to', value: '' }, context: { arguments: known } }
  const { code, message } = await refusal(client.request('completion/complete', params))
  expect([code, message]).toEqual([
    -32602,
    'invalid params for completion/complete: context.arguments has more than 1000 members',
  ])
})
