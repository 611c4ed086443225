/** The options of the command line that become options of the client. */
const OPTIONS: Readonly<Record<string, string>> = {
  auth: 'PIERHEAD_TOKEN',
  env: '--env',
  framing: '--framing',
  headers: '--header',
  inherit: '--inherit',
  revision: '--revision',
  timeout: '--timeout',
  total: '--total',
}

/** A message about an option of the client, in terms of the command line. */
export function wrongOption(message: string): string {
  const [, name, reason = ''] =
    /^connect (\w+): (?:it )?([^]*)$/.exec(message) ?? /^connect: (\w+) ([^]*)$/.exec(message) ?? []
  const [, header, problem = ''] = /^headers "([^"]*)": ([^]*)$/.exec(message) ?? []
  if (header !== undefined) return `the header "${header}" cannot be sent: ${problem}`
  const option = name !== undefined && Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined
  return option === undefined ? message : `${option} ${reason}`
}
