import { connectGist } from 'pierhead/gist'

/** Calls a tool of a harbour through envelopes and reports its progress. */
export async function hail(url: string): Promise<readonly string[]> {
  const lines: string[] = []
  await using client = await connectGist(url, { clientName: 'Harbour master' })

  const { version, capabilities } = client.descriptor
  lines.push(`${version} with ${capabilities.join(', ')}`)

  const { result, metadata } = await client.call(
    'radio',
    {},
    { timeout: '5s', onProgress: ({ progress }) => lines.push(`heard ${JSON.stringify(progress)}`) },
  )
  lines.push(`${(result['content'] as readonly unknown[]).length} berths answered`)
  return metadata.duration_ms < 5000 ? lines : []
}
