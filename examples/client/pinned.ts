import { readFile } from 'node:fs/promises'
import { connect } from 'pierhead/client'

/** Connects with a client certificate to the server that has the pinned certificate, and asks it who we are. */
export async function introduce(
  address: string,
  files: { key: string; cert: string },
  pin: string,
): Promise<unknown> {
  const tls = { key: await readFile(files.key), cert: await readFile(files.cert), pin }
  await using client = await connect(address, { tls })
  return await client.call('who')
}
