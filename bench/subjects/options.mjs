/**
 * What a subject serves, given as JSON in its only argument: `add` (the tool that adds two numbers), `progress` (whether
 * it reports progress once before it answers), `text` (the tools that take 4 KB of text), `change` (a tool that
 * changes the list of tools), `wait` (a tool that does not answer, and resources that can be followed), `wide` (how many tools of ten fields), `schema` (how the tools of a
 * server that takes both are described: 'zod' or 'json'), `sessions` (how many are held at most, where that is limited),
 * `listeners` (how many servers listen, each on its own port), `body` (for the limit: a file with the answer to serve).
 */
export const options = {
  add: true,
  progress: false,
  text: false,
  change: false,
  wait: false,
  wide: 0,
  schema: 'zod',
  sessions: 10_000,
  listeners: 1,
  body: '',
  ...JSON.parse(process.argv[2] ?? '{}'),
}

export const about = { name: 'bench', version: '1.0.0' }
