import { connect, connectAll, type McpError } from '../../src/client.ts'
import { connectGist } from '../../src/gist.ts'

/** The ways to send an HTTP request; resolves with what came of it. */
const WAYS: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  connect: (url) => connect(url),
  call: async (url) => (await connect(url)).call('echo'),
  stream: async (url) => {
    const client = await connect(url, { revision: '2025-11-25' })
    await client.ping()
    await client.close()
    return 'closed'
  },
  group: async (url) => {
    const group = await connectAll({ bad: url })
    return (group.failures.get('bad') as McpError).kind
  },
  gist: (url) => connectGist(url),
}

const outcomes: unknown[] = []
for (const [way, url] of JSON.parse(process.argv[2]!) as [string, string][]) {
  outcomes.push(await WAYS[way]!(url).catch(({ kind }: { kind: string }) => kind))
  // The server answers this when it sees no connection any more on which it sent such a reply.
  await fetch(new URL('/after', url))
}
process.stdout.write(JSON.stringify(outcomes), () => process.exit())
