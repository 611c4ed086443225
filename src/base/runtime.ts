/** Whether this is Cloudflare Workers, the only runtime with this global. */
export const onWorkers: boolean = 'WebSocketPair' in globalThis

interface Runtime {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> }
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
