/** The supported subprotocols, the preferred one first. */
export const PROTOCOLS: readonly string[] = ['mcp', 'mcp.v1']

/** The preferred one of the offered subprotocols, whatever their order; undefined when none is supported. */
export function chooseProtocol(offered: Iterable<string>): string | undefined {
  const names = new Set(offered)
  return PROTOCOLS.find((name) => names.has(name))
}
