/** A picture, as far as anybody looks; its bytes are not text. */
export const PNG: Uint8Array = Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10, 0, 255)
export const CITIES: readonly string[] = ['Paris', 'Parma', 'Prague', 'Rome']
export const ICON = { src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] } as const
export const CHANGED = '2026-01-02T03:04:05Z'
