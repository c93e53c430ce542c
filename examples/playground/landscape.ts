/**
 * Draws hills under a low sun.
 *
 * @see https://developer.mozilla.org/docs/Web/SVG
 */

/** Returns a landscape as an SVG document, in shades of one hue. */
export function landscape(hue: number): string {
  const hills = [0, 1, 2, 3].map((row) => {
    const top = 150 + row * 42
    const points = Array.from({ length: 17 }, (_, at) => {
      const height = Math.sin(at * (0.5 + row * 0.17) + row * 2) * (30 - row * 4)
      return `${at * 40},${(top + height).toFixed(1)}`
    })
    const fill = `hsl(${hue + row * 6} ${30 + row * 8}% ${72 - row * 15}%)`
    return `<polygon fill="${fill}" points="0,320 ${points.join(' ')} 640,320"/>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 320" width="640" height="320">
<rect width="640" height="320" fill="hsl(${hue} 45% 92%)"/>
<circle cx="450" cy="110" r="42" fill="hsl(${(hue + 170) % 360} 85% 72%)"/>
${hills.join('\n')}
</svg>`
}
