import { expect } from 'vitest'
import { createServer, McpError } from '../../src/index.ts'
import { fromErrorObject } from '../../src/errors/remote.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const CODES = [1, -1, 0, 1000, 1100, 4009, -31999, -32769, Number.MAX_SAFE_INTEGER]
const SPEC = { type: 'object', properties: { code: { type: 'integer' } }, required: ['code'] } as const

function fail(code: number): never {
  throw new McpError('custom', `sold out: ${code}`, { code, data: { left: 0, code } })
}

const app = createServer({ name: 'custom', version: '1', log: () => undefined })
  .tool('fail', { input: SPEC }, ({ code }) => fail(code))
  .tool('bare', {}, () => {
    throw new McpError('custom', 'no more', { code: 42 })
  })
  .tool('later', { input: SPEC }, async ({ code }) =>
    Promise.reject(new McpError('custom', 'late', { code })),
  )
  .resource('fail://{code}', {}, ({ code }) => fail(Number(code)))
  .prompt(
    'fail',
    { args: { type: 'object', properties: { code: { type: 'string' } } } as const },
    ({ code = '' }) => fail(Number(code)),
  )

scenario(
  'an error with a code of the server reaches the client with its code, message and data',
  app,
  async (client) => {
    for (const code of CODES) {
      const errors = [
        await refusal(client.request('tools/call', { name: 'fail', arguments: { code } })),
        await refusal(client.request('resources/read', { uri: `fail://${code}` })),
        await refusal(client.request('prompts/get', { name: 'fail', arguments: { code: String(code) } })),
      ]
      for (const error of errors) {
        expect(error).toMatchObject({ code, message: `sold out: ${code}`, data: { left: 0, code } })
        expect(error.data).not.toHaveProperty('refusal')
        const { kind, retryable, refusal: name, ...read } = fromErrorObject(error as never)
        expect([kind, retryable, name]).toEqual(['custom', false, undefined])
        expect(read).toMatchObject({ code, data: { left: 0, code } })
      }
    }
    expect(await refusal(client.call('bare'))).toMatchObject({
      code: 42,
      message: 'no more',
      data: undefined,
    })
  },
)

scenario(
  'a reserved code is a mistake of the server, so the client gets a reference',
  app,
  async (client) => {
    const result = await client.call('later', { code: -32000 })
    expect(JSON.stringify(result)).toMatch(/tool \\"later\\" failed \(reference /)
  },
)
