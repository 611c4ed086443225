import { redactedUrl } from './redaction.ts'
import { shellWord } from './shell-word.ts'
import type { ResolvedTarget } from './target.ts'

/** A target at a URL as somebody types it in a shell: its name in a configuration, or its URL. A URL with secrets is not shown. */
export function targetWord({
  target,
  from,
  label,
}: Pick<ResolvedTarget, 'target' | 'from' | 'label'>): string {
  if (from === 'configuration' || !('url' in target)) return shellWord(label)
  const url = String(target.url)
  return redactedUrl(url) === url
    ? shellWord(url)
    : 'URL (the one that you gave, whose secrets are not shown)'
}
