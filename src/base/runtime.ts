import { BAD_OPTION } from '../errors/base.ts'
import { mcpError } from '../errors/error.ts'

/** Whether this is Cloudflare Workers, the only runtime with this global. */
export const onWorkers: boolean = 'WebSocketPair' in globalThis

interface Runtime {
  readonly process?: {
    readonly env?: Readonly<Record<string, string | undefined>>
    readonly versions?: Readonly<Record<string, string | undefined>>
  }
  readonly Deno?: {
    readonly permissions?: {
      querySync?(permission: { readonly name: 'env'; readonly variable: string }): { readonly state: string }
    }
  }
}

/** Reads an environment variable; undefined on runtimes without any, or without permission to read it. */
export function readEnv(name: string): string | undefined {
  const { process, Deno } = globalThis as Runtime
  // Otherwise Deno would throw, or on a terminal stop the program to ask for the permission.
  const state = Deno?.permissions?.querySync?.({ name: 'env', variable: name }).state
  return state === 'prompt' || state === 'denied' ? undefined : process?.env?.[name]
}

/** Rejects versions of Node that lack what we use; later it would fail in ways that do not show the reason. */
export function checkNode(where: string): void {
  const version = (globalThis as Runtime).process?.versions?.['node'] ?? '99'
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  const reason = `Node ${version} is too old; use Node 20.19 or newer, for example with: nvm install --lts`
  throw mcpError(BAD_OPTION, { where, reason })
}
