export { App, createServer } from './app/app.ts'
export { defineTools } from './app/define-tools.ts'
export type {
  GistOptions,
  HttpOptions,
  ListenOptions,
  MountOptions,
  ServerOptions,
  TcpOptions,
  UnixOptions,
  WsOptions,
} from './app/options.ts'
export type { TlsOptions } from './transport/tls/options.ts'
export type { Running } from './app/listen/listen.ts'
export { audio, embed, image, link, text, type ContentBlock } from './protocol/content.ts'
export { McpError, type ErrorKind } from './errors/error.ts'
export type { RefusalName } from './protocol/refusals.ts'
export { validateMessageSize, type SizedTransport } from './wire/message-size.ts'
export type { Revision } from './protocol/revisions.ts'
export type { Elicited, Sampled } from './server/ask.ts'
export type { Context } from './server/context.ts'
export { ToolError } from './errors/tool-error.ts'
export type { ToolMap, ToolResult } from './app/types.ts'
export type { Interceptor, Plugin } from './app/plugin.ts'
export type { ObservedRequest, Observer, RequestEnd } from './rpc/observer.ts'
export type { VisibleItem } from './server/visibility.ts'
export type { WebHandler } from './transport/http/server/web-endpoint.ts'
