import { connect, type Target } from 'pierhead/client'
import { apps, health, toolCompletion, toolStream } from 'pierhead/extensions'

/** Uses the extensions of a server, and tells what it found. */
export async function measure(target: Target): Promise<readonly string[]> {
  const told: string[] = []
  const extensions = [apps, health, toolCompletion, toolStream]
  await using client = await connect(target, { extensions })

  const { status } = await health.of(client).status()
  told.push(`the station is ${status}`)

  await apps.of(client).start({ name: 'measuring' })
  const { values } = await toolCompletion.of(client).complete('measure', { name: 'place', value: 'north q' })
  for await (const piece of toolStream.of(client).stream('measure', { place: values[0] })) {
    for (const block of piece) if (block.type === 'text') told.push(block.text)
  }
  return told
}
