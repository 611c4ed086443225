// A part of every built file, so it imports nothing.

/** What is wrong with the place where a server is to serve, and what to do. */
export interface AddressProblem {
  readonly problem: string
  readonly hint: string
}

/** How the reader of a message names each part of an address. */
export interface Spelling {
  port(number: number): string
  readonly host: string
  readonly hosts: string
}

/** The variables that a built file reads. */
export const AS_VARIABLES: Spelling = {
  port: (number) => `PORT=${number}`,
  host: 'HOST=127.0.0.1',
  hosts: 'HOSTS=mcp.example.com',
}

/** The options of `run` and `dev`. */
export const AS_OPTIONS: Spelling = {
  port: (number) => `--port ${number}`,
  host: '--host 127.0.0.1, or HOST=127.0.0.1',
  hosts: '--hosts mcp.example.com, or HOSTS=mcp.example.com',
}

/** The options of a program that calls `listen` itself. */
export const IN_PROGRAM: Spelling = {
  port: (number) => `listen({ http: { port: ${number} } })`,
  host: "listen({ http: { host: '127.0.0.1' } })",
  hosts: "listen({ http: { hosts: ['mcp.example.com'] } })",
}

type Row = readonly [pattern: RegExp, hint: (spelling: Spelling, found: string) => string]

/** The messages of listen(). The first group is the problem, the second what the hint needs. */
const ROWS: readonly Row[] = [
  [
    /^listen on \S+: (port (\d+) is in use);/,
    ({ port }, number) => `Choose another: ${port((Number(number) % 65_535) + 1)} (0 chooses any)`,
  ],
  [
    /^listen on \S+: (port \d+ needs more privileges than this user has);/,
    ({ port }) => `Choose one above 1023: ${port(8080)}`,
  ],
  [/^listen on \S+: (this machine has no such address: .*)$/, ({ host }) => `Use one that it has: ${host}`],
  [
    /^listen http: ("[^"]*" can be reached by other machines);/,
    ({ hosts }) => `Name the hosts that clients will use: ${hosts}`,
  ],
]

const DEV_AUTH: AddressProblem = {
  problem: 'devAuth lets anyone log in as anyone, so it does not run when NODE_ENV is production',
  hint: 'Use oauth({ issuer, resource }) of pierhead/auth; the server of the template http does that if ISSUER is set.',
}

/** Explains a message of the package in the words of whoever starts a server; undefined if it is about something else. */
export function addressProblem(message: string, spelling: Spelling): AddressProblem | undefined {
  if (/^devAuth: .* NODE_ENV is production/.test(message)) return DEV_AUTH
  for (const [pattern, hint] of ROWS) {
    const [whole, problem = '', found = ''] = pattern.exec(message) ?? []
    if (whole !== undefined) return { problem, hint: hint(spelling, found) }
  }
  return undefined
}

/** The port in a text, or what is wrong with it. */
export function portIn(text: string): number | AddressProblem {
  const port = Number(text)
  if (text.trim() !== '' && Number.isInteger(port) && port >= 0 && port < 65_536) return port
  return {
    problem: `${text} is not a valid port`,
    hint: 'Use a number from 0 to 65535; 0 chooses a free one.',
  }
}

/** The names in a text, between commas. */
export function hostsIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
