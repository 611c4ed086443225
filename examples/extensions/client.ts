import { connect, type Target } from 'pierhead/client'
import { apps, health, toolCompletion, toolStream } from 'pierhead/extensions'

/** Uses the extensions of a server and reports the results. */
export async function measure(target: Target): Promise<readonly string[]> {
  const lines: string[] = []
  const extensions = [apps, health, toolCompletion, toolStream]
  await using client = await connect(target, { extensions })

  const { status } = await health.of(client).status()
  lines.push(`the station is ${status}`)

  await apps.of(client).start({ name: 'measuring' })
  const { values } = await toolCompletion.of(client).complete('measure', { name: 'place', value: 'north q' })
  for await (const piece of toolStream.of(client).stream('measure', { place: values[0] })) {
    for (const block of piece) if (block.type === 'text') lines.push(block.text)
  }
  return lines
}
