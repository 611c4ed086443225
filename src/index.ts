export { App, createServer } from './app.ts'
export { defineTools } from './define-tools.ts'
export type {
  GistOptions,
  HttpOptions,
  ListenOptions,
  MountOptions,
  ServerOptions,
  TcpOptions,
  UnixOptions,
  WsOptions,
} from './options.ts'
export type { TlsOptions } from './transport/tcp/tls-options.ts'
export type { Running } from './listen.ts'
export { audio, embed, image, link, text, type ContentBlock } from './protocol/content.ts'
export { McpError, type ErrorKind } from './protocol/errors.ts'
export type { RefusalName } from './protocol/refusals.ts'
export { validateMessageSize, type SizedTransport } from './protocol/message-size.ts'
export type { Revision } from './protocol/revisions.ts'
export type { Elicited, Sampled } from './server/ask.ts'
export type { Context } from './server/context.ts'
export { ToolError } from './protocol/tool-error.ts'
export type { ToolMap, ToolResult } from './types.ts'
