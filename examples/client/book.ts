import { connect, type Target } from 'pierhead/client'

/** Books a berth for a ship, answers the harbour's question, and reports the changes it was notified of. */
export async function book(target: Target, berth: string, ship: string): Promise<readonly string[]> {
  const lines: string[] = []
  await using client = await connect(target, {
    answers: {
      elicit: ({ message }) =>
        message.includes('ship') ? { action: 'accept', content: { ship } } : { action: 'decline' },
    },
  })

  const end = await client.subscribe(`harbour://berths/${berth}`, () => lines.push(`${berth} changed`))
  lines.push(String(await client.call('book', { berth })))
  await end()
  return lines
}
