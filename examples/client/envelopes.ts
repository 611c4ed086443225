import { connectGist } from 'pierhead/gist'

/** Asks the boats of a harbour by envelopes, and tells what it heard. */
export async function hail(url: string): Promise<readonly string[]> {
  const heard: string[] = []
  await using client = await connectGist(url, { clientName: 'Harbour master' })

  const { version, capabilities } = client.descriptor
  heard.push(`${version} with ${capabilities.join(', ')}`)

  const { result, metadata } = await client.call(
    'radio',
    {},
    { timeout: '5s', onProgress: ({ progress }) => heard.push(`heard ${JSON.stringify(progress)}`) },
  )
  heard.push(`${(result['content'] as readonly unknown[]).length} berths answered`)
  return metadata.duration_ms < 5000 ? heard : []
}
