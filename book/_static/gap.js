// The theme's download button only opens the file, and a browser may show a notebook as text.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("a.btn-download-source-button").forEach((link) => link.setAttribute("download", ""));
});
