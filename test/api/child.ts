import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** What a server that was started as a program wrote for some lines of input, and how it ended. */
export async function converse(
  program: string,
  requests: readonly object[],
): Promise<{
  readonly replies: readonly { readonly id: number; readonly result: unknown }[]
  readonly code: number | null
}> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions=pierhead-source', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const replies: { readonly id: number; readonly result: unknown }[] = []
  const wanted = requests.filter((request) => 'id' in request).length
  for (const request of requests) child.stdin.write(`${JSON.stringify(request)}\n`)
  for await (const line of createInterface({ input: child.stdout })) {
    replies.push(JSON.parse(line) as { id: number; result: unknown })
    if (replies.length === wanted) child.stdin.end()
  }
  const [code] = await ended
  return { replies: replies.toSorted((left, right) => left.id - right.id), code }
}
