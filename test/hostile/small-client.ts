import { connect, McpError } from '../../src/client.ts'

export interface Case {
  readonly url?: string
  readonly command?: string
  readonly args?: readonly string[]
  readonly use: 'call' | 'tools'
}

export interface Outcome {
  readonly name: string | undefined
  readonly message: string | undefined
  readonly count: number
  /** Milliseconds of processor time. */
  readonly ms: number
  /** The most memory that the process had so far. */
  readonly rssMb: number
  /** Whether the client is of use afterwards. */
  readonly after: string
}

async function run({ use, ...target }: Case): Promise<Outcome> {
  const begun = process.cpuUsage()
  let count = 0
  let after = 'never connected'
  let thrown: Error | undefined
  const client = await connect(target as never, { timeout: '40s', total: '50s' }).catch(
    (error: unknown) => void (thrown = error as Error),
  )
  try {
    if (use === 'call') await client?.call('echo')
    else for await (const _ of client?.tools() ?? []) count++
  } catch (error) {
    thrown = error as Error
  }
  const { user, system } = process.cpuUsage(begun)
  const ms = (user + system) / 1000
  if (client !== undefined) after = await client.ping().then(() => 'works', String)
  await client?.close()
  const { name, message } = thrown ?? {}
  const rssMb = Math.round(process.resourceUsage().maxRSS / 1024)
  return { name: thrown instanceof McpError ? 'McpError' : name, message, count, ms, rssMb, after }
}

process.on('unhandledRejection', (reason) => {
  throw reason
})
const outcomes: Outcome[] = []
for (const each of JSON.parse(process.argv[2] as string) as Case[]) outcomes.push(await run(each))
process.stdout.write(JSON.stringify(outcomes))
