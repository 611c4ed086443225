/** Milliseconds of processor time that this process spends on some work. Other programs make it wait, but not work more. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
