/** The CPU time in milliseconds that this process spends on some work, which other programs affect less than elapsed time. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
