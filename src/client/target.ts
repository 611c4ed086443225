import type { Auth } from '../rpc/call.ts'
import type { ClientAuth } from '../rpc/client-auth.ts'
import type { ClientKeys } from '../rpc/client-keys.ts'
import type { AnyTools, ToolsOf } from './typed.ts'
import { isUrl, parseUrl } from '../protocol/url.ts'

/** A server in the same process, from `createServer`. */
export interface LocalServer<Tools = AnyTools> {
  /** Does not exist. It carries the types of the tools to clients. */
  '~tools'?(tools: ToolsOf<Tools>): void
  /**
   * Opens a connection in memory; `connect` calls it. `receive` gets what the server sends, and `auth` is the caller. Default:
   * none. The result sends messages to the server (`send`) and ends the connection (`close`).
   */
  connect(options: { receive(text: string): void; readonly auth?: Auth | undefined }): {
    send(text: string): void
    close(): void
  }
}

/**
 * A server program to start. It is started without a shell, talks over stdin and stdout, and ends when the client closes. Its
 * stderr arrives as `stderr` events.
 *
 * @example
 * await connect({ command: 'npx', args: ['-y', 'notes-server'], env: { NOTES_TOKEN: token } })
 */
export interface CommandTarget {
  /** The name of a program on the `PATH`, or its path. It is not a command line: arguments go into `args`. */
  readonly command: string
  /** The arguments, passed one by one and never through a shell. Default: none. */
  readonly args?: readonly string[] | undefined
  /**
   * Environment variables to set for the program, in addition to those that it inherits. Default: none. The program does not get
   * the whole environment of this process: the option `inherit` is by default `safe`, which passes on `PATH`, `HOME`, `LANG` and the
   * like. Name everything else here, above all credentials. Variables that make programs load code, such as `NODE_OPTIONS`
   * and `LD_PRELOAD`, are set only with `inherit: 'all'`.
   */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The working directory. Default: that of this process. It must exist. */
  readonly cwd?: string | undefined
  /** Proves a key to this program, as the option of `connect` does, which comes first. Default: nothing does. */
  readonly keys?: ClientKeys | undefined
}

/** A server at a URL, in the form of `mcp.json` files. */
export interface UrlTarget {
  /** The scheme decides the transport: `http`, `https`, `ws` or `wss`, and in Node also `tcp`, `tls` and `unix`. */
  readonly url: string | URL
  /** Ignored, since the URL and the server decide. It is here because `mcp.json` files have it. */
  readonly type?: string | undefined
  /** Headers for every request to this server. Default: none. Those in the options of `connect` come first. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Authenticates to this server, as the option of `connect` does, which comes first. Default: nothing does. */
  readonly auth?: ClientAuth | undefined
}

/** Any server that `connect` accepts: a URL, a program to start, an entry of an `mcp.json` file, or a server in this process. */
export type Target<Tools = AnyTools> = string | URL | CommandTarget | UrlTarget | LocalServer<Tools>

/** The servers of an `mcp.json` file. */
export interface Config {
  /** The servers by name, as Claude Desktop, Cursor and most other programs write them. Default: `servers`. */
  readonly mcpServers?: Readonly<Record<string, CommandTarget | UrlTarget>> | undefined
  /** The servers by name, as VS Code writes them. Default: the object itself, unless it has `mcpServers`. */
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
  return isUrl(url) ? parseUrl(url) : undefined
}
