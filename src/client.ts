export { connect, createClient, type ConnectOptions } from './app/connect/connect.ts'
export { connectAll, Group } from './app/connect/group.ts'
export type { Answers, FormAnswer, FormQuestion, UrlQuestion } from './client/answers.ts'
export { Client, type ServerAbout } from './client/client.ts'
export type { DeclaredExtension } from './client/declared.ts'
export type { ClientEvents, State } from './client/events.ts'
export type {
  CallOptions,
  ClientMiddleware,
  ClientPlugin,
  ClientRequest,
  Progress,
} from './client/options.ts'
export type { Config, CommandTarget, LocalServer, Target, UrlTarget } from './client/target.ts'
export type { Change, Watched } from './client/watched.ts'
export type { RecoveryOptions } from './client/recovery-options.ts'
export { McpError, type ErrorKind } from './errors/error.ts'
export { refusalOf, type Refusal } from './errors/refusal.ts'
export type { RefusalName } from './protocol/refusals.ts'
export type { Revision } from './protocol/revisions.ts'
export { ToolError } from './errors/tool-error.ts'
export type { ClientTls } from './transport/tls/options.ts'
