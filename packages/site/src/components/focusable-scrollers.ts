// Lets the keyboard reach examples and tables that are wider than the window. Expressive Code does this for its
// examples too, later, and makes each of them a landmark without a name.

const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0')
    else target.removeAttribute('tabindex')
  }
})
for (const scroller of document.querySelectorAll('.sl-markdown-content :is(pre, .table)')) observer.observe(scroller)
