// The default theme of VitePress, in the fonts of the system and the colors of the playground.
import DefaultTheme from 'vitepress/theme-without-fonts'
import './style.css'

export default DefaultTheme
