import { connect as open } from 'pierhead/client'
import { about } from './options.mjs'

/** Our client, from the built package. */
export async function connect({ url, command, args }, revision) {
  const client = await open(url ?? { command, args }, { client: about, revision })
  return { call: (a, b) => client.call('add', { a, b }), close: () => client.close() }
}
