/**
 * What a subject serves, given as JSON in its only argument: `add` (the tool that adds two numbers), `wide` (how many
 * tools of ten fields), `schema` (how the tools of a server that takes both are described: 'zod' or 'json'),
 * `body` (for the limit: a file with the answer to serve).
 */
export const options = { add: true, wide: 0, schema: 'zod', body: '', ...JSON.parse(process.argv[2] ?? '{}') }

export const about = { name: 'bench', version: '1.0.0' }
