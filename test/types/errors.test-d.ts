import { expectTypeOf } from 'vitest'
import {
  connect,
  refusalOf,
  type ErrorKind,
  type McpError,
  type Refusal,
  type RefusalName,
} from '../../src/client.ts'
import type * as auth from '../../src/errors/auth.ts'
import type * as base from '../../src/errors/base.ts'
import type * as client from '../../src/errors/client.ts'
import type * as custom from '../../src/errors/custom.ts'
import type * as http from '../../src/errors/http.ts'
import type * as keys from '../../src/errors/keys.ts'
import type * as limits from '../../src/errors/limits.ts'
import type * as login from '../../src/errors/login.ts'
import type * as profiles from '../../src/errors/profiles.ts'
import type { ErrorRow } from '../../src/errors/row.ts'
import type * as rpc from '../../src/errors/rpc.ts'
import type * as server from '../../src/errors/server.ts'
import type * as store from '../../src/errors/store.ts'
import type * as tasks from '../../src/errors/tasks.ts'
import type * as transport from '../../src/errors/transport.ts'
import type * as vault from '../../src/errors/vault.ts'
import type * as wire from '../../src/errors/wire.ts'
import type * as workers from '../../src/errors/workers.ts'
import type { Reaction, Severity } from '../../src/protocol/refusals.ts'

declare const error: McpError

// Every kind has one row, and every row a kind.
type KindIn<Module> = {
  [Name in keyof Module]: Module[Name] extends ErrorRow ? Module[Name]['kind'] : never
}[keyof Module]
expectTypeOf<ErrorKind>().toEqualTypeOf<
  | KindIn<typeof base>
  | KindIn<typeof workers>
  | KindIn<typeof wire>
  | KindIn<typeof rpc>
  | KindIn<typeof limits>
  | KindIn<typeof server>
  | KindIn<typeof client>
  | KindIn<typeof custom>
  | KindIn<typeof transport>
  | KindIn<typeof http>
  | KindIn<typeof auth>
  | KindIn<typeof keys>
  | KindIn<typeof store>
  | KindIn<typeof tasks>
  | KindIn<typeof vault>
  | KindIn<typeof login>
  | KindIn<typeof profiles>
>()

// Kinds and refusals are closed: a name that does not exist cannot be asked for.
expectTypeOf(error.refusal).toEqualTypeOf<RefusalName | undefined>()
if (error.refusal === 'RATE_LIMIT_EXCEEDED' || error.kind === 'overloaded') void error.retryAfterMs
// @ts-expect-error no such refusal
if (error.refusal === 'RATE_LIMIT') void error
// @ts-expect-error no such kind
if (error.kind === 'rate_limited') void error

const refusal = refusalOf(error)
expectTypeOf(refusal).toEqualTypeOf<Refusal | undefined>()
expectTypeOf<Refusal['name']>().toEqualTypeOf<RefusalName>()
expectTypeOf<Refusal['reaction']>().toEqualTypeOf<Reaction>()
expectTypeOf<Refusal['severity']>().toEqualTypeOf<Severity>()

void connect('http://127.0.0.1:1/mcp', { recovery: false })
void connect('http://127.0.0.1:1/mcp', {
  recovery: { tries: 3, first: '50ms', longest: 5000, timeouts: true },
})
// @ts-expect-error true says nothing
void connect('http://127.0.0.1:1/mcp', { recovery: true })
// @ts-expect-error auth replaced it
void connect('http://127.0.0.1:1/mcp', { reauthenticate: () => ({ authorization: 'Bearer x' }) })
// @ts-expect-error a token is not a method
void connect('http://127.0.0.1:1/mcp', { auth: 'Bearer x' })
