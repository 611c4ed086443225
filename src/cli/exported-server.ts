/** The exports of a program. */
export type Exports = Readonly<Record<string, unknown>>

/** Why a program has no server to start, and what to do. */
export interface NoServer {
  readonly problem: string
  readonly hint: string
}

/** The server that a module exports: under the given name, as default, or as its only one. Or says what is missing. */
export function chooseServer(
  module: Exports,
  path: string,
  name: string | undefined,
): { readonly server: object } | NoServer {
  const servers = Object.entries(module).filter(([, value]) => isServer(value))
  const [, found] =
    servers.find(([key]) => key === (name ?? 'default')) ??
    (name === undefined && servers.length === 1 ? (servers[0] ?? []) : [])
  if (found !== undefined) return { server: found as object }
  const keys = servers.map(([key]) => key)
  return name === undefined ? unnamed(path, keys) : notExported(path, name, keys)
}

/** Says that a module has no server, or several. */
export function unnamed(path: string, names: readonly string[] = []): NoServer {
  return {
    problem: `${path} neither exports a server nor calls listen()`,
    hint:
      names.length > 1
        ? `Name one of its servers: ${names.map((name) => `${path}:${name}`).join(', ')}`
        : 'End it with: export default app',
  }
}

/** Says that a module does not export the server with a name. */
export function notExported(path: string, name: string, names: readonly string[]): NoServer {
  return {
    problem: `${path} does not export a server "${name}"`,
    hint: names.length > 0 ? `It exports ${names.join(', ')}.` : 'Write: export const name = createServer(…)',
  }
}

function isServer(value: unknown): boolean {
  const { listen, connect, tool } = (value ?? {}) as Exports
  return [listen, connect, tool].every((member) => typeof member === 'function')
}
