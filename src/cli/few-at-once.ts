/** Does something with each item, so many at once. The answers are in the order of the items. After a failure, no further item begins. */
export async function fewAtOnce<In, Out>(
  items: readonly In[],
  most: number,
  act: (item: In) => Promise<Out>,
): Promise<Out[]> {
  const outs: Out[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      try {
        outs[at] = await act(items[at] as In)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: most }, work))
  return outs
}
