import { connect, type ConnectOptions } from 'pierhead/client'

/** Waits for a film as for any other result. */
export async function order(url: string): Promise<unknown> {
  await using client = await connect(url)
  return await client.call('render', { film: 'Tides', scenes: 3 })
}

/** Starts a film, and remembers only the id of its task. */
export async function begin(url: string, film: string, scenes: number): Promise<string | undefined> {
  await using client = await connect(url)
  const task = await client.start('render', { film, scenes })
  console.log((await task.status()).status)
  return task.id
}

/** Continues with it: an hour later, in another process, after a restart of the server. */
export async function collect(url: string, id: string): Promise<unknown> {
  await using client = await connect(url)
  const task = await client.resume(id)
  for await (const { message } of task.progress()) console.log(message)
  return await task.result()
}

/** Answers the question of a task while waiting for it. */
export async function publish(url: string, options: ConnectOptions = {}): Promise<unknown> {
  await using client = await connect(url, {
    ...options,
    answers: { elicit: () => ({ action: 'accept', content: { cinema: 'the Odeon' } }) },
  })
  return await client.call('publish', { film: 'Tides' })
}
