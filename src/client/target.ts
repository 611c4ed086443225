import type { Auth } from '../rpc/call.ts'
import type { AnyTools, ToolsOf } from './typed.ts'

/** A server in the same process, from `createServer`. */
export interface LocalServer<Tools = AnyTools> {
  /** Does not exist. It carries the types of the tools to clients. */
  '~tools'?(tools: ToolsOf<Tools>): void
  connect(options: { receive(text: string): void; readonly auth?: Auth | undefined }): {
    send(text: string): void
    close(): void
  }
}

/** A server program to start. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
}

/** A server at a URL, in the form of `mcp.json` files. */
export interface UrlTarget {
  readonly url: string | URL
  readonly type?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Any server that `connect` accepts. */
export type Target<Tools = AnyTools> = string | URL | CommandTarget | UrlTarget | LocalServer<Tools>

/** The servers of an `mcp.json` file. */
export interface Config {
  readonly mcpServers?: Readonly<Record<string, CommandTarget | UrlTarget>> | undefined
  readonly servers?: Readonly<Record<string, CommandTarget | UrlTarget>> | undefined
}

const SCHEMES = /^(?:https?|wss?|tcp|tls|unix):$/

export function isTarget(target: Target | null | undefined): target is Target {
  if (target === undefined || target === null) return false
  return isLocal(target) || isCommand(target) || SCHEMES.test(urlOf(target)?.protocol ?? '')
}

export function isLocal(target: Target): target is LocalServer {
  return typeof target === 'object' && 'connect' in target && typeof target.connect === 'function'
}

export function isCommand(target: Target): target is CommandTarget {
  return typeof target === 'object' && 'command' in target && typeof target.command === 'string'
}

/** The URL of a target; undefined if it is not valid. */
export function urlOf(target: string | URL | UrlTarget): URL | undefined {
  const url = String(typeof target === 'string' || target instanceof URL ? target : target.url)
  return URL.canParse(url) ? new URL(url) : undefined
}
