import { expect } from 'vitest'
import { createServer, McpError, type ErrorKind } from '../../src/index.ts'
import { allErrors } from '../../src/errors/all.ts'
import { refusalOf } from '../../src/errors/refusal.ts'
import { fromErrorObject } from '../../src/errors/remote.ts'
import { scenario } from '../harness/scenario.ts'
import { refusal } from '../harness/wire-error.ts'

const elicitations = [{ mode: 'url', elicitationId: 'e1', url: 'https://x.example/', message: 'Sign in' }]
const [visit] = elicitations
const UNFIT: readonly { readonly elicitations?: unknown }[] = [
  {},
  { elicitations: [] },
  { elicitations: [visit, { ...visit, mode: 'form' }] },
  { elicitations: [{ ...visit, elicitationId: undefined }] },
  { elicitations: [{ ...visit, url: 5 }] },
]
const app = createServer({ name: 'errors', version: '1', log: () => undefined })
  .tool(
    'throw',
    { input: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] } },
    ({ kind }) => {
      throw new McpError(kind as ErrorKind, `on purpose: ${kind}`, { data: { field: 'x', maxSize: 5 } })
    },
  )
  .tool('nowhere', { input: { type: 'object', properties: { at: { type: 'integer' } } } }, ({ at = 0 }) => {
    throw new McpError('url_needed', 'sign in first', { data: UNFIT[at] ?? {} })
  })
  .tool('bare', {}, () => {
    throw new McpError('url_needed', 'sign in first')
  })
  .tool('visit', {}, () => {
    throw new McpError('url_needed', 'sign in first', { data: { elicitations } })
  })

scenario(
  'an error that was thrown for the client carries its code, its text, its data and its refusal [R007] [S0-2.3] [S2-1.3-4] [S2-8.4-1] [S2-8.4-2] [S3-2.2-2] [S2-8.3-1] [S2-15-4] [S3-7.3-1] [S2-8.1-1]',
  app,
  async (client, revision) => {
    const early = revision !== '2026-07-28'
    const cases: [ErrorKind, number, object | undefined][] = [
      [
        'bad_params',
        -32602,
        { code: 1021, name: 'INVALID_PARAMS', httpStatus: 400, severity: 'error', retryable: false },
      ],
      [
        'unknown_method',
        -32601,
        { code: 1066, name: 'PROTOCOL_ERROR', httpStatus: 400, severity: 'error', retryable: false },
      ],
      [
        'unknown_resource',
        early ? -32002 : -32602,
        { code: 1046, name: 'RESOURCE_NOT_FOUND', httpStatus: 404, severity: 'warn', retryable: false },
      ],
      [
        'internal',
        -32603,
        { code: 1079, name: 'INTERNAL_ERROR', httpStatus: 503, severity: 'critical', retryable: true },
      ],
      [
        'overloaded',
        1005,
        { code: 1005, name: 'BACKPRESSURE_ACTIVE', httpStatus: 503, severity: 'warn', retryable: true },
      ],
    ]
    for (const [kind, code, facts] of cases) {
      const error = await refusal(client.call('throw', { kind }))
      expect([error.code, error.message]).toEqual([code, `on purpose: ${kind}`])
      expect(error.data).toEqual({
        field: 'x',
        maxSize: 5,
        // The client must not take it for a rejection before the handler ran.
        ...(kind === 'overloaded' && { mayHaveRun: true }),
        ...(facts === undefined ? {} : { refusal: facts }),
      })
    }
  },
)

scenario(
  'an error with nothing more to say has a code and a text, and no data [S0-2.3] [S2-1.3-4] [S2-8.4-1]',
  app,
  async (client) => {
    await refusal(client.call('bare'))
    const reply = JSON.parse(
      client.transcript.findLast(({ from }) => from === 'server')?.text ?? '',
    ) as unknown
    expect(reply).toHaveProperty('error', { code: -32603, message: 'sign in first' })
  },
)

const ALL = [...allErrors().keys()] as readonly ErrorKind[]
/** Without the one that says a session is gone: 2026-07-28 has no sessions. */
const KINDS = ALL.filter((kind) => kind !== 'unknown_session')
const OFFICIAL = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022]

const throwing = createServer({ name: 'throws', version: '1', log: () => undefined })
for (const kind of KINDS) {
  // An error from a server further on keeps the code that it came with, which need not be ours to send.
  const fail = (): never => {
    throw new McpError(kind, 'on purpose', { code: -32042 })
  }
  throwing.tool(kind, {}, fail).prompt(kind, {}, fail).resource(`throw://${kind}`, {}, fail)
}

scenario(
  'whatever a handler throws, at 2026-07-28 it is sent under an official code or one outside the reserved band [R021] [R022]',
  throwing,
  async (client) => {
    expect(KINDS.length).toBeGreaterThan(40)
    for (const kind of KINDS) {
      const ends = await Promise.allSettled([
        client.request('tools/call', { name: kind }),
        client.request('prompts/get', { name: kind }),
        client.request('resources/read', { uri: `throw://${kind}` }),
      ])
      for (const [at, end] of ends.entries()) {
        if (end.status === 'fulfilled') expect([kind, at, end.value['isError']]).toEqual([kind, 0, true])
        else {
          const { code } = end.reason as { code: number }
          expect([kind, code, OFFICIAL.includes(code) || code > 0]).toEqual([kind, code, true])
        }
      }
    }
  },
  { since: '2026-07-28' },
)

scenario(
  'a URL that must be visited first is an error with its items where the revision has one [R216] [R021]',
  app,
  async (client, revision) => {
    const error = await refusal(client.call('visit'))
    if (revision === '2026-07-28') return expect(error.code).not.toBe(-32042)
    expect([error.code, error.message, error.data]).toEqual([-32042, 'sign in first', { elicitations }])
  },
  { since: '2025-11-25' },
)

scenario(
  'without a URL to visit, or an id for each, there is no such error [R216]',
  app,
  async (client) => {
    for (const at of UNFIT.keys()) expect((await refusal(client.call('nowhere', { at }))).code).toBe(-32603)
  },
  { since: '2025-11-25' },
)

scenario(
  'a handler may give any refusal of the catalogue; of one that the server itself never sends, clients know the rest by its name',
  createServer({ name: 'errors', version: '1' }).tool('expired', {}, () => {
    throw new McpError('internal', 'the account has expired', { refusal: 'AUTH_EXPIRED', retryable: false })
  }),
  async (client) => {
    const error = await refusal(client.call('expired'))
    expect(refusalOf(fromErrorObject(error))).toEqual({
      name: 'AUTH_EXPIRED',
      code: 1012,
      httpStatus: 401,
      severity: 'error',
      reaction: 'authenticate',
      retryable: false,
    })
    expect(error).toMatchObject({
      message: 'the account has expired',
      data: {
        refusal: { name: 'AUTH_EXPIRED', retryable: false },
      },
    })
  },
)
