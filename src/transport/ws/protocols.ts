/** The sub-protocols that are spoken, in the order in which our client offers them. */
export const PROTOCOLS: readonly string[] = ['mcp', 'mcp.v1']

/** The first of the offered sub-protocols that is spoken; undefined when none is. */
export function chooseProtocol(offered: Iterable<string>): string | undefined {
  for (const name of offered) if (PROTOCOLS.includes(name)) return name
  return undefined
}
