/**
 * The options of a subject, given as JSON in its only argument: `add` (serve the tool that adds two numbers), `handler` (the
 * kind of its handler, see handlers.mjs), `progress` (report progress once before answering), `text` (serve the tools that
 * take 4 KB of text), `change` (serve a tool that changes the list of tools), `wait` (serve a tool that does not answer, and
 * resources to subscribe to), `wide` (the number of tools with ten fields), `schema` ('zod' or 'json', for servers that accept
 * both), `sessions` (the limit of sessions, if there is one), `listeners` (the number of servers, each on its own port),
 * `workers` (the number of processes),
 * `redis` (the URL and the prefix of a Redis for all sessions, one prefix for each listener),
 * `auth` (issuer and resource of the tokens that our server requires), `body` (for the limit: a file with the answer), `profile` (the beginning of the path for a CPU profile of the process).
 */
export const options = {
  add: true,
  handler: 'text',
  progress: false,
  text: false,
  change: false,
  wait: false,
  wide: 0,
  schema: 'zod',
  sessions: 10_000,
  listeners: 1,
  workers: 1,
  redis: undefined,
  auth: undefined,
  body: '',
  profile: '',
  ...JSON.parse(process.argv[2] ?? '{}'),
}

if (options.profile !== '') {
  const { profileInto } = await import('./profiler.mjs')
  profileInto(options.profile)
}

export const about = { name: 'bench', version: '1.0.0' }
