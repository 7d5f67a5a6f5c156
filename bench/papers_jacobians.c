#include "papers.h"
void papers_jacobians(papers *p) { (void)p; }
