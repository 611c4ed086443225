import { createSafeFetch } from '../../src/auth/client/safe-fetch.ts'

/** Fetches each of its arguments, as the client of a server on this machine, and prints what comes of it. */
const safe = createSafeFetch({ server: new URL('https://localhost/mcp') })
for (const url of process.argv.slice(2)) {
  const text = await safe(url).then(
    (reply) => reply.text(),
    (error: unknown) => (error as Error).message,
  )
  console.log(text)
}
