import {
  COUNT,
  either,
  FLAG,
  listOf,
  NUMBER,
  object,
  OFF,
  oneOf,
  PORT,
  required,
  TEXT,
  type Kind,
  type KindsOf,
} from '../../base/kinds.ts'
import { SCOPE } from '../../rpc/scopes.ts'
import type { AllowedKeys } from '../../keys/options.ts'
import { TRUST_PROXY } from '../../transport/http/server/proxy.ts'
import { FRAMING } from '../../transport/lines/framing-name.ts'
import { TLS } from '../../transport/tls/options.ts'
import { AUTH } from '../auth.ts'
import {
  MOUNT_OPTIONS,
  type HttpOptions,
  type ListenOptions,
  type StdioOptions,
  type TcpOptions,
  type UnixOptions,
  type WsOptions,
} from '../options.ts'

export const LISTEN_OPTIONS: KindsOf<ListenOptions> = {
  stdio: either(FLAG, object<StdioOptions>()),
  http: either(FLAG, object<HttpOptions>('an object with options, such as { port: 3000 }')),
  ws: either(FLAG, object<WsOptions>()),
  tcp: either(OFF, object<TcpOptions>('an object with options, such as { port: 4000 }')),
  unix: either(either(OFF, TEXT), object<UnixOptions>()),
  onUncaught: oneOf('report', 'exit'),
  workers: either(COUNT, oneOf('auto')),
}

const KEYS: Kind<AllowedKeys> = {
  must: "allowKeys('allowed-keys.json') of pierhead/auth",
  is: (value) => typeof (value as Partial<AllowedKeys> | null)?.open === 'function',
}

export const STDIO_OPTIONS: KindsOf<StdioOptions> = {
  scopes: listOf(SCOPE),
  keys: KEYS,
}

export const HTTP_OPTIONS: KindsOf<HttpOptions> = {
  ...MOUNT_OPTIONS,
  port: PORT,
  host: TEXT,
  path: TEXT,
  tls: TLS,
}

export const WS_OPTIONS: KindsOf<WsOptions> = {
  port: PORT,
  host: TEXT,
  path: TEXT,
  hosts: listOf(TEXT),
  cors: listOf(TEXT),
  trustProxy: TRUST_PROXY,
  auth: AUTH,
  tls: TLS,
}

export const TCP_OPTIONS: KindsOf<TcpOptions> = {
  port: required(PORT),
  host: TEXT,
  tls: TLS,
  insecure: FLAG,
  framing: FRAMING,
}

const SOCKET_PATH: Kind<string> = {
  must: `the path of a socket file, e.g. unix: '/run/user/1000/mcp.sock'`,
  is: (value) => typeof value === 'string' && value !== '' && !value.includes('\0'),
}

export const UNIX_OPTIONS: KindsOf<UnixOptions> = {
  path: required(SOCKET_PATH),
  mode: NUMBER,
  framing: FRAMING,
  scopes: listOf(SCOPE),
}
