import { connect, type Client } from '../../src/client.ts'
import { browser } from '../../src/auth-client.ts'
import type { RunningClient, StartableClient } from '../../src/validate/client/program.ts'
import type { Revision } from '../../src/protocol/revisions.ts'
import { argumentsOf } from './raw-client.ts'

/** Our own client, as the usual program with it. `isPinned` speaks only the revision of the scenario. */
export function ownClient(isPinned = false): StartableClient {
  return {
    async start({ url, command }, variables): Promise<RunningClient> {
      const { PIERHEAD_VALIDATE_REVISION: revision, PIERHEAD_VALIDATE_SCENARIO: scenario } = variables
      const [program = '', ...args] = command ?? []
      const stop = new AbortController()
      const run = async (): Promise<string> => {
        const client = await connect(url ?? { command: program, args }, {
          ...(isPinned && { revision: revision as Revision }),
          // A login on the way takes several requests.
          timeout: scenario?.startsWith('login') === true ? '20s' : '3s',
          ...(url?.startsWith('http') === true && { auth: login() }),
          answers: {
            elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
            sample: () => ({ role: 'assistant', content: { type: 'text', text: 'ship' }, model: 'none' }),
            roots: [{ uri: 'file:///tmp', name: 'tmp' }],
          },
        })
        stop.signal.addEventListener('abort', () => void client.close())
        try {
          await useEverything(client)
        } finally {
          await client.close()
        }
        return 'ended'
      }
      const ended = run().catch((error: unknown) => `failed: ${String(error)}`)
      return {
        ended,
        async stop() {
          stop.abort()
          await ended
        },
      }
    },
  }
}

/** A person who logs in at once: the issuers of the validator answer the request for the login page with the redirect. */
function login(): ReturnType<typeof browser> {
  return browser({
    clientMetadataUrl: 'https://own.example/client.json',
    redirectUri: 'http://127.0.0.1:1/callback',
    open: async (page) => {
      const reply = await fetch(page, { redirect: 'manual' })
      return reply.headers.get('location') ?? undefined
    },
  })
}

async function useEverything(client: Client): Promise<void> {
  const ignore = (): undefined => undefined
  const progress = { onProgress: ignore, timeout: '2s' } as const
  const { capabilities } = await client.server()
  const tools = await client.tools().toArray()
  await client.tools().toArray().catch(ignore)
  for (const { name, inputSchema } of tools)
    await client.callRaw(name, argumentsOf(inputSchema), progress).catch(ignore)
  if (capabilities?.['resources'] !== undefined)
    for (const { uri } of (await client.resources().toArray().catch(ignore)) ?? [])
      // Twice, because a client may keep what it has read.
      for (let time = 0; time < 2; time++) await client.read(uri).catch(ignore)
  if (capabilities?.['prompts'] === undefined) return
  for (const { name, arguments: list = [] } of (await client.prompts().toArray().catch(ignore)) ?? [])
    await client.prompt(name, Object.fromEntries(list.map((one) => [one.name, 'ships']))).catch(ignore)
}
