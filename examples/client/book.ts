import { connect, type Target } from 'pierhead/client'

/** Books a berth for a ship, answering what the harbour asks, and tells what it heard of changes. */
export async function book(target: Target, berth: string, ship: string): Promise<readonly string[]> {
  const told: string[] = []
  await using client = await connect(target, {
    answers: {
      elicit: ({ message }) =>
        message.includes('ship') ? { action: 'accept', content: { ship } } : { action: 'decline' },
    },
  })

  const end = await client.subscribe(`harbour://berths/${berth}`, () => told.push(`${berth} changed`))
  told.push(String(await client.call('book', { berth })))
  await end()
  return told
}
