import { describe, expect, it, vi } from 'vitest'
import { screen } from './screen.ts'

/** What a question prints until it waits for an answer. */
async function shown(message: string, schema: object = { type: 'object', properties: {} }): Promise<string> {
  const { answers, text, leave, signal } = screen()
  const answer = answers.elicit?.({ message, schema } as never, signal)
  await vi.waitFor(() => expect(text()).toContain('Do you agree?'), { timeout: 20_000 })
  leave()
  await expect(answer).resolves.toEqual({ action: 'cancel' })
  return text()
}

describe('a question that is too long', () => {
  it.each([
    ['words', 'ab '.repeat(400_000)],
    ['lines', 'a\n'.repeat(500_000)],
    ['one word', 'a'.repeat(1_000_000)],
    ['wide characters', '漢'.repeat(1_000_000)],
    ['invisible characters', '\u202e\u200d'.repeat(500_000)],
  ])('of %s is cut, and says so', async (_, message) => {
    const text = await shown(message)
    expect(text.length).toBeLessThan(60_000)
    expect(text.split('\n').length).toBeLessThan(600)
    expect(text).toContain(`the rest of ${message.length} characters`)
  })

  it('is shown whole if it is short', async () => {
    expect(await shown('one\ntwo\u001b[31m')).toContain('two\\u001b[31m')
  })

  it('has titles, descriptions and choices of which only the beginning is shown', async () => {
    const { answers, text, press, leave, signal } = screen()
    const long = 'x'.repeat(1_000_000)
    const choices = Array.from({ length: 100_000 }, (_, i) => `choice${i}${long.slice(0, 300)}`)
    const schema = {
      type: 'object',
      properties: { [long]: { type: 'string', title: long, description: long, enum: choices } },
    }
    const answer = answers.elicit?.({ message: 'hi', schema } as never, signal)
    await vi.waitFor(() => expect(text()).toContain('Will you answer?'), { timeout: 20_000 })
    press('y')
    await vi.waitFor(() => expect(text()).toContain('choice0'), { timeout: 20_000 })
    // Long lines are wrapped into a box.
    expect(text().replaceAll(/[\s│]+/g, ' ')).toContain('only the first 500 of 100000 choices')
    expect(text().length).toBeLessThan(20_000)
    leave()
    await expect(answer).resolves.toEqual({ action: 'cancel' })
  })
})

describe('a page to open', () => {
  async function page(url: string, message = 'Please.'): Promise<{ text: string; answer: unknown }> {
    const { answers, text, leave, signal } = screen()
    const answer = answers.elicitUrl?.({ url, message } as never, signal)
    let isDone = false
    void Promise.resolve(answer).then(() => (isDone = true))
    await vi.waitFor(() => expect(isDone || text().includes('Will you open it?')).toBe(true), {
      timeout: 20_000,
    })
    leave()
    return { text: text(), answer: await answer }
  }

  it('is named last, after the message, however long that is', async () => {
    const { text } = await page('https://pay.example/a?b=c', 'scroll\n'.repeat(100_000))
    const lines = text.split('\n')
    const at = lines.findIndex((line) => line.includes('https://pay.example/a?b=c'))
    const asked = lines.findIndex((line) => line.includes('Will you open it?'))
    expect(lines.findLastIndex((line) => line.startsWith('scroll'))).toBeLessThan(at)
    expect(asked - at).toBeLessThan(5)
    expect(lines.length).toBeLessThan(150)
  })

  it('is always shown with its whole host', async () => {
    const { text } = await page(
      `https://${'good.example/'.replace('/', '.')}${'a'.repeat(50)}.evil.example/x`,
    )
    expect(text).toContain('.evil.example')
    const user = await page(`https://good.example%2f${'x'.repeat(200)}@evil.example/`)
    expect(user.text).toContain('a page of evil.example')
    const bidi = await page('https://evil.example/\u202egood')
    expect(bidi.text).not.toContain('\u202e')
    const international = await page('https://p\u0430ypal.example/')
    expect(international.text).toContain('xn--')
  })

  it.each([
    ['a script', 'javascript:alert(1)'],
    ['a file', 'file:///etc/passwd'],
    ['not a URL', 'https://'],
    ['a very long host', `https://${'a.'.repeat(5000)}example/`],
    ['a very long user', `https://good.example%2f${'x'.repeat(3000)}@evil.example/`],
  ])('is declined if it is %s', async (_, url) => {
    const { text, answer } = await page(url)
    expect(answer).toEqual({ action: 'decline' })
    expect(text).toContain('declined')
    expect(text.length).toBeLessThan(5000)
  })
})
